import CTaskPlugin
import Synchronization
import TaskKit
import Testing

private actor Counter {
    var count = 0
    func add() -> (count: Int, isLoopThread: Bool) {
        count += 1
        return (count, FakeHost.isLoopThread)
    }
}

/// Waits in one of Swift's ways and returns at each step whether it is on the loop thread.
struct Wander: BridgeTask {
    static let name = "wander"
    static let summary = "Waits in a way of Swift's and returns where it resumed."

    enum Way: String, Codable, CaseIterable, Sendable {
        case nothing, function, actor, sleep, group, stream, detached, asyncLet, continuation, blocking, lane
    }
    struct Options: Codable, Sendable { var way: Way }

    private let counter = Counter()
    let lane = BlockingThreads(name: "wander")

    func run(_ options: Options, _ call: Call) async throws -> [Bool] {
        var seen = [FakeHost.isLoopThread]
        switch options.way {
        case .nothing: break
        case .function: seen.append(await elsewhere())
        case .actor: seen.append(await counter.add().isLoopThread)
        case .sleep: try await Task.sleep(for: .milliseconds(1))
        case .group:
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 { group.addTask { await elsewhere() } }
                for await isOnLoop in group { seen.append(isOnLoop) }
            }
        case .stream:
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            Task.detached {
                for number in 0..<3 { continuation.yield(number) }; continuation.finish()
            }
            for await _ in stream { seen.append(FakeHost.isLoopThread) }
        case .detached: seen.append(await Task.detached { !FakeHost.isLoopThread }.value)
        case .asyncLet:
            async let isOnLoop = elsewhere()
            seen.append(await isOnLoop)
        case .continuation:
            await withCheckedContinuation { continuation in Task.detached { continuation.resume() } }
        case .blocking: seen.append(try await call.blocking { !FakeHost.isLoopThread })
        case .lane: seen.append(try await lane.run { !FakeHost.isLoopThread })
        }
        seen.append(FakeHost.isLoopThread)
        return seen
    }
}

private func elsewhere() async -> Bool {
    await Task.yield()
    return FakeHost.isLoopThread
}

/// Records the order in which its calls start, and lets them end in any order.
private struct Queueing: BridgeTask {
    static let name = "queueing"
    static let summary = "Notes the order of its calls."

    struct Options: Codable, Sendable { var number: Int }
    typealias Result = Int

    let started = Numbers()

    func run(_ options: Options, _ call: Call) async throws -> Int {
        started.list.withLock { $0.append(options.number) }
        for _ in 0..<(options.number % 3) { await Task.yield() }
        return options.number
    }
}

private final class Numbers: Sendable {
    let list = Mutex<[Int]>([])
}

@Suite("A plugin's async code", .timeLimit(.minutes(20)))
struct ConcurrencyTests {
    @Test("stays on the loop thread after every kind of wait", arguments: Wander.Way.allCases)
    func staysOnLoop(_ way: Wander.Way) async {
        let host = FakeHost(Plugin("wanderer", version: "1.0.0") { Wander() })
        guard case .result(let result) = await host.answer(.call(0), #"{"way": "\#(way.rawValue)"}"#) else {
            Issue.record("no result")
            return
        }
        #expect(result.arrayValue?.isEmpty == false)
        #expect(result.arrayValue?.allSatisfy { $0 == true } == true, "\(result)")
    }

    @Test("starts in the order of the calls")
    func order() async {
        let task = Queueing()
        let host = FakeHost(Plugin("queue", version: "1.0.0") { task })
        let handles = await host.onLoop { host in
            (0..<50).map { host.request(.call(0), #"{"number": \#($0)}"#) }
        }
        for (number, handle) in handles.enumerated() {
            #expect(await host.answer(to: handle) == .result(JSON.number(JSONNumber(number))))
        }
        #expect(task.started.list.withLock { $0 } == Array(0..<50))
    }

    @Test("serves many calls of one task at once, repeatedly")
    func manyAtOnce() async {
        let host = FakeHost(Plugin("queue", version: "1.0.0") { Queueing() })
        for round in 0..<4 {
            let handles = await host.onLoop { host in
                (0..<40).map { host.request(.call(0), #"{"number": \#(round * 40 + $0)}"#) }
            }
            for (number, handle) in handles.enumerated() {
                #expect(await host.answer(to: handle) == .result(JSON.number(JSONNumber(round * 40 + number))))
                #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
            }
        }
    }

    @Test("runs on the loop of its own host, for each of two plugins")
    func twoPlugins() async {
        let first = FakeHost(Plugin("first", version: "1.0.0") { Wander() })
        let second = FakeHost(Plugin("second", version: "1.0.0") { Wander() })
        async let one = first.answer(.call(0), #"{"way": "group"}"#)
        async let two = second.answer(.call(0), #"{"way": "group"}"#)
        let all: JSON = [true, true, true, true, true, true]
        #expect(await one == .result(all))
        #expect(await two == .result(all))
    }
}
