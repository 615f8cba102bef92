import BridgeJSON
import CTaskPlugin
import Synchronization
import TaskKit
import Testing

/// A result that records where it was decoded.
private struct DecodedArray: Decodable {
    var isOnLoop: Bool
    var count: Int

    init(from decoder: any Decoder) throws {
        isOnLoop = FakeHost.isLoopThread
        count = try [Int](from: decoder).count
    }
}

/// Calls the task that its options name and returns the outcome.
private struct Relay: BridgeTask {
    static let name = "relay"
    static let summary = "Calls another task."

    enum From: String, Codable, CaseIterable, Sendable { case call, plugin, detached, places }
    struct Options: Codable, Sendable {
        var task: String
        var from: From
    }
    struct Answer: Codable, Sendable { var number: Int }
    typealias Result = Int

    func run(_ options: Options, _ call: Call) async throws -> Int {
        switch options.from {
        case .call:
            let answer: Answer = try await call.call(
                options.task, ["a": 1], session: 5, timeout: .seconds(3)
            ) { (step: Int) in call.log.info("step \(step)") }
            return answer.number
        case .plugin:
            let answer: Answer = try await call.plugin.call(options.task, ["a": 1], timeout: .unlimited)
            return answer.number
        case .places:
            let array: DecodedArray = try await call.call(options.task, ["a": 1])
            call.log.info("decoded on the loop: \(array.isOnLoop)")
            return array.count
        case .detached:
            let answer: Answer = try await Task.detached { try await call.call(options.task, ["a": 1]) }.value
            return answer.number
        }
    }
}

/// Whether the next question for the loop thread, on another thread, cancels the Swift task that asks.
private let cancelsAsker = Atomic<Bool>(false)

/// Calls another task in a Swift task that is cancelled while the call is passed to the loop thread.
private struct Cancelling: BridgeTask {
    static let name = "cancelling"
    static let summary = "Calls a task and cancels the call."

    func run(_ options: JSON, _ call: Call) async throws -> JSON {
        try await Task.detached {
            cancelsAsker.store(true, ordering: .relaxed)
            return try await call.plugin.call("other", ["a": 1], timeout: .unlimited)
        }.value
    }
}

@Suite("A call that a plugin makes", .timeLimit(.minutes(20)))
struct TaskCallTests {
    private let host = FakeHost(Plugin("relay", version: "1.0.0") { Relay() })

    private func start(_ task: String, _ from: String) async -> trestle_call {
        await host.onLoop { $0.request(.call(0), #"{"task": "\#(task)", "from": "\#(from)"}"#) }
    }

    /// Returns the handle of the one call that the plugin has made.
    private func inner() async -> trestle_call {
        await host.until { !$0.open.isEmpty }
        return await host.onLoop { $0.open.keys.first ?? 0 }
    }

    @Test("has its task, options, parent, session and timeout", arguments: ["call", "plugin", "detached"])
    func route(_ from: String) async {
        let handle = await start("other", from)
        let inner = await inner()
        #expect(await host.onLoop { $0.open[inner]?.task } == "other")
        #expect(await host.onLoop { $0.open[inner]?.options } == ["a": 1])
        #expect(await host.onLoop { $0.open[inner]?.call.parent } == (from == "plugin" ? 0 : handle))
        #expect(await host.onLoop { $0.open[inner]?.call.session } == (from == "call" ? 5 : 0))
        let timeouts: [String: Int64] = ["call": 3_000_000_000, "plugin": -1, "detached": 0]
        #expect(await host.onLoop { $0.open[inner]?.call.timeout_ns } == timeouts[from])
        await host.onLoop { $0.end(inner, .result(["number": 12])) }
        #expect(await host.answer(to: handle) == .result(12))
    }

    @Test("is not made if its Swift task is cancelled before the loop thread gets the call")
    func cancelledOnTheWay() async {
        let host = FakeHost(Plugin("cancelling", version: "1.0.0") { Cancelling() })
        host.table.pointee.is_loop_thread = { _ in
            let isLoop = FakeHost.isLoopThread
            if !isLoop, cancelsAsker.exchange(false, ordering: .relaxed) { withUnsafeCurrentTask { $0?.cancel() } }
            return isLoop
        }
        let handle = await host.onLoop { $0.request(.call(0)) }
        await host.until { !$0.open.isEmpty || $0.answers[handle] != nil }
        let open = await host.onLoop { Array($0.open.keys) }
        #expect(open.isEmpty)
        for call in open { await host.onLoop { $0.end(call, .result(nil)) } }
        guard case .error(let error) = await host.answer(to: handle) else { return #expect(Bool(false), "no error") }
        #expect(error.code == .callCancelled && error.started == false)
    }

    @Test("throws the error of the other task")
    func error() async {
        let handle = await start("other", "call")
        let inner = await inner()
        await host.onLoop { $0.end(inner, .error(BridgeError("other.failed", "It did."))) }
        #expect(await host.answer(to: handle) == .error(BridgeError("other.failed", "It did.")))
    }

    @Test("may be answered before the daemon's function returns")
    func atOnce() async {
        let answer = await host.answer(.call(0), #"{"task": "nobody", "from": "call"}"#)
        #expect(answer == .error(BridgeError(.taskNotFound, "There is no task nobody.")))
    }

    @Test("reports a result of another shape as an error of the other task")
    func mismatch() async {
        let handle = await start("other", "call")
        let inner = await inner()
        await host.onLoop { $0.end(inner, .result(["number": "twelve"])) }
        guard case .error(let error) = await host.answer(to: handle) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .resultInvalid)
        #expect(error.message.contains("other"))
    }

    @Test("decodes a long result off the loop, and a short one on it")
    func longResult() async {
        for (number, expected) in [(1, [true]), (40_000, [false])] {
            let handle = await start("other", "places")
            let inner = await inner()
            await host.onLoop { $0.end(inner, .result(.array(Array(repeating: 1, count: number)))) }
            #expect(await host.answer(to: handle) == .result(.number(JSONNumber(number))))
            let lines = await host.onLoop { $0.logLines }
            #expect(lines.suffix(1).map(\.message) == expected.map { "decoded on the loop: \($0)" })
        }
    }

    @Test("receives its progress in order, without values that do not fit")
    func progress() async {
        let handle = await start("other", "call")
        let inner = await inner()
        await host.onLoop { host in
            host.sendProgress(inner, 0, 10)
            host.sendProgress(inner, 1, "eleven")
            host.sendProgress(inner, 2, 12)
            host.end(inner, .result(["number": 1]))
        }
        _ = await host.answer(to: handle)
        let lines = await host.onLoop { $0.logLines }
        #expect(lines.map(\.level) == [3, 1, 3])
        #expect(lines.map(\.call) == [handle, handle, handle])
        #expect(lines.first?.message == "step 10")
        #expect(lines.last?.message == "step 12")
    }

    @Test("receives no progress of more than 65,536 bytes, which would be decoded on the loop")
    func longProgress() async throws {
        func one(bytes: Int) throws -> JSON {
            .number(try #require(JSONNumber(text: "1." + String(repeating: "0", count: bytes - 2))))
        }
        let (maximum, more) = (try one(bytes: 65_536), try one(bytes: 65_537))
        let handle = await start("other", "call")
        let inner = await inner()
        await host.onLoop { host in
            host.sendProgress(inner, 0, maximum)
            host.sendProgress(inner, 1, more)
            host.end(inner, .result(["number": 1]))
        }
        _ = await host.answer(to: handle)
        let lines = await host.onLoop { $0.logLines }
        #expect(lines.map(\.level) == [3, 1])
        #expect(lines.first?.message == "step 1")
        #expect(lines.last?.message.contains("it has 65537 bytes, at most 65536 are decoded") == true)
    }

    @Test("off the loop thread is cancelled with its task")
    func cancelledOffLoop() async {
        let handle = await start("other", "plugin")
        let inner = await inner()
        await host.cancel(handle)
        guard case .error(let error) = await host.answer(to: handle) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .callCancelled)
        #expect(await host.onLoop { $0.cancelled } == [inner])
    }

    @Test("is not made if its task was cancelled before")
    func notMade() async {
        struct Late: BridgeTask {
            static let name = "late"
            static let summary = "Calls another task once it is cancelled."
            struct Options: Codable, Sendable {}
            func run(_ options: Options, _ call: Call) async throws -> Int {
                while !Task.isCancelled { await Task.yield() }
                return try await call.call("other", 1)
            }
        }
        let host = FakeHost(Plugin("late", version: "1.0.0") { Late() })
        let handle = await host.onLoop { $0.request(.call(0)) }
        await host.cancel(handle)
        guard case .error(let error) = await host.answer(to: handle) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .callCancelled)
        #expect(error.data?["started"] == false)
        #expect(await host.onLoop { $0.open.isEmpty })
    }
}
