import Dispatch
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

/// A task's call that did not arrive over a bridge.
final class TestCall<Task: StoreTask>: StoreCall {
    let sizeBytes: Int
    private let task: Task
    private let request: TestStore.Request
    private let options: StoreOptions<Task.Request>
    private let end: @Sendable (TestStore.Outcome) -> Void

    init(_ task: Task, _ request: TestStore.Request, _ end: @escaping @Sendable (TestStore.Outcome) -> Void) {
        (self.task, self.request, self.end) = (task, request, end)
        let text = request.options.bytes
        sizeBytes = text.count
        options = Task.options(of: text)
    }

    var lane: StoreLane { Task.lane }
    var effect: BatchPlanner.Effect { Task.effect }
    var mayWatch: Bool { Task.mayWatch }
    var session: SessionID { request.caller.session }
    var user: UInt32 { request.caller.uid }
    var isCancelled: Bool { request.isCancelled }

    func carryOut(_ visit: StoreVisit) throws -> StoreWork { try task.carryOut(options, request.caller, visit) }

    func answer(_ outcome: Result<[UInt8], BridgeError>) {
        end(
            outcome.map { bytes in
                (try? JSON(parsing: bytes)) ?? .string("not JSON: \(String(decoding: bytes, as: UTF8.self))")
            })
    }
}

/// A call, and its answer once it has arrived.
final class PendingCall: Sendable {
    struct State {
        var outcome: TestStore.Outcome?
        var waiting: CheckedContinuation<TestStore.Outcome, Never>?
    }

    let state = Mutex(State())

    func end(_ outcome: TestStore.Outcome) {
        let waiting = state.withLock { state in
            if state.outcome != nil { Issue.record("a call was answered twice") }
            state.outcome = outcome
            return state.waiting.take()
        }
        waiting?.resume(returning: outcome)
    }

    var isAnswered: Bool { state.withLock { $0.outcome != nil } }

    /// Waits for the answer.
    var outcome: TestStore.Outcome {
        get async {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiting = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }
}

/// Collects answers that arrive in any order, and sorts them by their calls.
final class Collected: Sendable {
    let answers = Mutex([Int: TestStore.Outcome]())
    let count: Int
    private let whenComplete: @Sendable ([TestStore.Outcome]) -> Void

    init(count: Int, whenComplete: @escaping @Sendable ([TestStore.Outcome]) -> Void) {
        self.count = count
        self.whenComplete = whenComplete
    }

    func add(_ outcome: TestStore.Outcome, at index: Int) {
        let all = answers.withLock { answers -> [TestStore.Outcome]? in
            if answers.updateValue(outcome, forKey: index) != nil { Issue.record("call \(index) was answered twice") }
            guard answers.count == count else { return nil }
            return answers.sorted { $0.key < $1.key }.map(\.value)
        }
        if let all { whenComplete(all) }
    }
}
