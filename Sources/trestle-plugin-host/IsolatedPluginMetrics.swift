import BridgeJSON
import BridgeMessage
import EventLoop
import Synchronization

/// The metrics that a plugin sets, sent to the daemon once a second where they have changed. Any thread.
final class IsolatedPluginMetrics: Sendable {
    private struct Metric {
        var value = 0.0
        var isNews = true
    }

    private struct State {
        /// By the rules that the daemon goes by, which would refuse later what is refused here.
        var declared = MetricDeclarations()
        /// Their values, in the same order.
        var metrics: [Metric] = []
    }

    private static let interval = Duration.seconds(1)
    private let state = Mutex(State())

    /// Declares a metric; one of the same name and unit is the same metric.
    ///
    /// - Returns: its number, from 1.
    /// - Throws: ``MetricRefusal`` where it cannot be published.
    func declare(_ new: MetricDeclaration) throws(MetricRefusal) -> UInt32 {
        // The closure's own errors would be of any type.
        let outcome = state.withLock { state in
            Result { () throws(MetricRefusal) -> UInt32 in
                let number = try state.declared.declare(new)
                if number > state.metrics.count { state.metrics.append(Metric()) }
                return UInt32(number)
            }
        }
        return try outcome.get()
    }

    func set(_ number: UInt32, _ value: Double) { change(number) { $0 = value } }

    func add(_ number: UInt32, _ amount: Double) { change(number) { $0 += amount } }

    private func change(_ number: UInt32, _ change: (inout Double) -> Void) {
        state.withLock { state in
            guard number > 0, number <= state.metrics.count else { return }
            change(&state.metrics[Int(number) - 1].value)
            state.metrics[Int(number) - 1].isNews = true
        }
    }

    /// Reports what is new, and the loop's lag in whole milliseconds, from now on, for as long as the process lives.
    @LoopActor
    func publish(_ report: @escaping (JSON) -> Void) {
        var timer: LoopTimer?
        var reportedLag: Int64 = 0
        timer = LoopTimer { [self] in
            var news = takeNews()?.objectValue ?? [:]
            let lag = Int64(EventLoop.lag / .milliseconds(1))
            if lag != reportedLag { news["lagMs"] = .number(JSONNumber(lag)) }
            reportedLag = lag
            if !news.isEmpty { report(.object(news)) }
            timer?.schedule(after: Self.interval)
        }
        timer?.schedule(after: Self.interval)
    }

    /// What has changed since it was taken last; nil: nothing has.
    func takeNews() -> JSON? {
        state.withLock { state in
            var news: [JSON] = []
            for (index, declared) in state.declared.all.enumerated() where state.metrics[index].isNews {
                state.metrics[index].isNews = false
                var metric: JSONObject = [
                    "name": .string(declared.name), "kind": .string(declared.kind.rawValue),
                    "help": .string(declared.help),
                    "value": .number(JSONNumber(state.metrics[index].value) ?? JSONNumber(0)),
                ]
                metric["unit"] = declared.unit.map { .string($0) }
                news.append(.object(metric))
            }
            return news.isEmpty ? nil : ["metrics": .array(news)]
        }
    }
}
