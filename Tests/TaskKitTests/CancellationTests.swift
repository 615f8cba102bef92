import CTaskPlugin
import Dispatch
import Synchronization
import TaskKit
import Testing

/// Waits until it is cancelled.
private struct TimeoutParts: BridgeTask {
    static let name = "timeout"
    static let summary = "Waits until it is cancelled."

    enum Way: String, Codable, CaseIterable, Sendable { case sleep, bridge, blocking, deaf }
    struct Options: Codable, Sendable { var way: Way }
    typealias Result = String

    func run(_ options: Options, _ call: Call) async throws -> String {
        switch options.way {
        case .sleep: try await Task.sleep(for: .seconds(3600))
        case .bridge: return try await call.call("slow", ["a": 1])
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

/// Runs the test's action before its first suspension, and keeps its call.
private struct Prompt: BridgeTask {
    static let name = "prompt"
    static let summary = "Is cancelled before its first suspension."

    typealias Options = Bool
    typealias Result = [Bool]

    let action = Action()

    func run(_ waits: Bool, _ call: Call) async throws -> [Bool] {
        action.calls.withLock { $0.append(call) }
        action.body.withLock { $0.take() }?()
        if waits { await Task.yield() }
        return [call.isCancelled, Task.isCancelled]
    }
}

private final class Action: Sendable {
    let body = Mutex<(@Sendable () -> Void)?>(nil)
    let calls = Mutex<[Call]>([])
}

private func usleepABit() {
    DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1)) == .success ? () : ()
}

@Suite("A cancelled call", .timeLimit(.minutes(20)))
struct CancellationTests {
    private let host = FakeHost(Plugin("patient", version: "1.0.0") { TimeoutParts() })

    private func start(_ way: TimeoutParts.Way) async -> trestle_call {
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

    @Test("may still answer with a result")
    func deaf() async {
        let handle = await start(.deaf)
        await host.until { !$0.logLines.isEmpty }
        await host.cancel(handle)
        #expect(await host.answer(to: handle) == .result("done"))
    }

    @Test("is answered with its result if the plugin itself cancelled it, and later calls are unaffected")
    func own() async {
        let task = Prompt()
        let action = task.action
        let host = FakeHost(Plugin("hasty", version: "1.0.0") { task })
        action.body.withLock { $0 = { action.calls.withLock { $0 }.first?.cancel() } }
        let first = await host.onLoop { $0.request(.call(0), "true") }
        #expect(await host.answer(to: first) == .result([true, true]))
        // The call has been answered, so there is nothing left to cancel.
        action.calls.withLock { $0 }.first?.cancel()
        let second = await host.onLoop { $0.request(.call(0), "true") }
        #expect(await host.answer(to: second) == .result([false, false]))
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

    @Test("can be detected in blocking work")
    func blocking() async {
        let handle = await start(.blocking)
        await host.until { !$0.logLines.isEmpty }
        await host.cancel(handle)
        #expect(await host.answer(to: handle) == .result("saw true, true"))
    }

    @Test("is answered once, and cancelling an ended or unknown call has no effect")
    func ended() async {
        await host.cancel(12345)
        let handle = await start(.sleep)
        await host.cancel(handle)
        _ = await host.answer(to: handle)
        await host.cancel(handle)
        #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
    }

    @Test("cancels its task also before the first suspension, and no other call", arguments: [true, false])
    func prompt(_ keepsCalls: Bool) async {
        let task = Prompt()
        let host = FakeHost(Plugin("prompt", version: "1.0.0") { task })
        #expect(await host.answer(.call(0), "false") == .result([false, false]))
        if !keepsCalls { task.action.calls.withLock { $0 = [] } }
        for waits in ["true", "false"] {
            task.action.body.withLock { body in
                body = {
                    let plugin = host.plugin.pointee
                    plugin.cancel(plugin.context, host.lastHandle, UInt32(TRESTLE_CANCEL_CALLER))
                }
            }
            // Without a suspension there is no Swift task yet that could be cancelled.
            #expect(await host.answer(.call(0), waits) == .result([true, .bool(waits == "true")]))
            #expect(await host.answer(.call(0), waits) == .result([false, false]))
            if !keepsCalls { task.action.calls.withLock { $0 = [] } }
        }
        if keepsCalls {
            let seen = task.action.calls.withLock { $0.map(\.isCancelled) }
            #expect(seen == [false, true, false, true, false])
        }
    }

    @Test("does not affect later calls if it was cancelled while it waited")
    func nextCall() async {
        let task = Prompt()
        let host = FakeHost(Plugin("prompt", version: "1.0.0") { task })
        for _ in 0..<3 {
            // The call is cancelled between its suspension and its end, which both run on the loop.
            let handle = await host.onLoop { host in
                let handle = host.request(.call(0), "true")
                host.plugin.pointee.cancel(host.plugin.pointee.context, handle, UInt32(TRESTLE_CANCEL_CALLER))
                return handle
            }
            #expect(await host.answer(to: handle) == .result([true, true]))
            #expect(await host.answer(.call(0), "true") == .result([false, false]))
            #expect(await host.answer(.call(0), "false") == .result([false, false]))
        }
    }

    @Test("may call its own plugin again before its first suspension; each call is answered once")
    func reentrant() async {
        let task = Prompt()
        let host = FakeHost(Plugin("prompt", version: "1.0.0") { task })
        task.action.body.withLock { body in
            body = {
                _ = host.request(.call(0), "false")
                _ = host.request(.call(0), "true")
            }
        }
        let outer = await host.onLoop { $0.request(.call(0), "true") }
        for handle in [outer, outer + 1, outer + 2] {
            #expect(await host.answer(to: handle) == .result([false, false]))
            #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
        }
    }
}
