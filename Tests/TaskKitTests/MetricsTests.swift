import CTaskPlugin
import Synchronization
import TaskKit
import Testing

/// Publishes figures when it is called.
private struct Count: BridgeTask {
    static let name = "count"
    static let summary = "Counts."
    struct Options: Codable, Sendable {}
    struct Result: Codable, Sendable {}

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let queue = call.plugin.gauge("queue", "What waits.")
        queue.set(5)
        queue.add(-2)
        call.plugin.gauge("file", "Its size.", unit: .bytes).set(1.5)
        let time = call.plugin.counter("time", "What it took.", unit: .seconds)
        time.add(.milliseconds(250))
        time.add(.milliseconds(500))
        let made = call.plugin.counter("made", "What was made.")
        made.add()
        made.add(2)
        made.add(-7)
        made.add(0.0)
        made.add(Double.nan)
        return Result()
    }
}

@Suite("Figures that a plugin publishes", .timeLimit(.minutes(20)))
struct MetricsTests {
    private func plugin() -> PluginTable { Plugin("counter", version: "1") { Count() }.export() }

    @Test("reach the daemon with name, unit, help and kind, and then only with their values")
    func published() async {
        let host = FakeHost(plugin())
        #expect(await host.answer(.call(0), "{}") == .result([:]))
        let gauge = UInt32(TRESTLE_METRIC_GAUGE)
        let counter = UInt32(TRESTLE_METRIC_COUNTER)
        #expect(
            host.figures.withLock { $0 } == [
                .init(name: "queue", unit: "", help: "What waits.", kind: gauge, value: 3),
                .init(name: "file", unit: "bytes", help: "Its size.", kind: gauge, value: 1.5),
                .init(name: "time", unit: "seconds", help: "What it took.", kind: counter, value: 0.75),
                .init(name: "made", unit: "", help: "What was made.", kind: counter, value: 3),
            ])
    }

    @Test("may be created before the plugin is started, without effect")
    func unseen() {
        Gauge().set(1)
        Counter().add()
    }
}
