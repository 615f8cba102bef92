import CTaskPlugin
import Dispatch
import Synchronization
import TaskKit
import Testing

/// Waits until it is cancelled.
private struct Patience: BridgeTask {
    static let name = "patience"
    static let summary = "Waits until it is cancelled."

    enum Way: String, Codable, CaseIterable, Sendable { case sleep, bridge, blocking, deaf }
    struct Options: Codable, Sendable { var way: Way }
    typealias Result = String

    func run(_ options: Options, _ call: Call) async throws -> String {
        switch options.way {
        case .sleep: try await Task.sleep(for: .seconds(3600))
        case .bridge: return try await call.bridge("slow", ["a": 1])
        case .blocking:
            call.log.info("waiting")
            try await call.blocking { while !call.isCancelled { usleepABit() } }
            return "saw \(call.isCancelled), \(Task.isCancelled)"
        case .deaf:
            call.log.info("waiting")
            while !Task.isCancelled { await Task.yield() }
        }
        return "done"
    }
}

private func usleepABit() {
    DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1)) == .success ? () : ()
}

@Suite("A cancelled call")
struct CancellationTests {
    private let host = FakeHost(Plugin("patient", version: "1.0.0") { Patience() })

    private func start(_ way: Patience.Way) async -> trestle_call {
        await host.onLoop { $0.request(.call(0), #"{"way": "\#(way.rawValue)"}"#) }
    }

    private func code(_ answer: FakeHost.Answer) -> ErrorCode? {
        if case .error(let error) = answer { error.code } else { nil }
    }

    @Test("cancels its Swift task, which still answers")
    func sleeping() async {
        let handle = await start(.sleep)
        await host.cancel(handle)
        #expect(code(await host.answer(to: handle)) == .callCancelled)
        #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
    }

    @Test("may still answer with a result, which is the daemon's to drop")
    func deaf() async {
        let handle = await start(.deaf)
        await host.until { !$0.logLines.isEmpty }
        await host.cancel(handle)
        #expect(await host.answer(to: handle) == .result("done"))
    }

    @Test("cancels the calls that it made")
    func nested() async {
        let handle = await start(.bridge)
        await host.until { !$0.open.isEmpty }
        let inner = await host.onLoop { $0.open.keys.first }
        #expect(await host.onLoop { $0.open.values.first?.call.parent } == handle)
        await host.cancel(handle)
        #expect(code(await host.answer(to: handle)) == .callCancelled)
        #expect(await host.onLoop { $0.cancelled } == [inner])
    }

    @Test("can be seen from blocking work")
    func blocking() async {
        let handle = await start(.blocking)
        await host.until { !$0.logLines.isEmpty }
        await host.cancel(handle)
        #expect(await host.answer(to: handle) == .result("saw true, true"))
    }

    @Test("that has ended, or never was, is nothing to cancel")
    func ended() async {
        await host.cancel(12345)
        let handle = await start(.sleep)
        await host.cancel(handle)
        _ = await host.answer(to: handle)
        await host.cancel(handle)
        #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
    }
}
