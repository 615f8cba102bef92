import Synchronization
import TaskKit

/// The queue in front of the store. Any thread puts calls in; one thread, the lane's, takes what has come together, a
/// batch at a time.
final class CommitLane: Sendable {
    /// Runs jobs one after the other, in their order, on a thread that may block.
    typealias Scheduler = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    fileprivate struct Waiting {
        var calls: [StoreCall] = []
        /// The options of each session's calls that are not answered yet.
        var sizeBytes: [SessionID: Int] = [:]
        /// A job that will take the calls has been given to the scheduler.
        var isDrainScheduled = false
    }

    private let waiting = Mutex(Waiting())
    /// Held for a batch at a time. Nobody waits for it: the lane's jobs do not overlap.
    private let engine: Mutex<StoreEngine>
    private let schedule: Scheduler

    init(sink: any ChangeSink, schedule: @escaping Scheduler) {
        self.engine = Mutex(StoreEngine(sink: sink))
        self.schedule = schedule
    }

    /// Queues a call. Its place in the order is that of the call of this method. One too many is answered `busy`.
    func submit(_ call: StoreCall) {
        let admission = waiting.withLock { $0.admit(call) }
        switch admission {
        case .first: schedule { self.drain() }
        case .queued: break
        case .refused:
            call.answer(
                .failure(
                    BridgeError(
                        .busy, "Too much of this session waits to be stored: wait for some answers first.",
                        isTransient: true, retryAfter: .milliseconds(100))))
        }
    }

    /// Opens the database, making or migrating it as needed.
    ///
    /// - Throws: `storage.failed`, `storage.full`, with a sentence for the operator.
    func open(_ settings: StoreEngine.Settings) async throws {
        try await withCheckedThrowingContinuation { continuation in
            schedule {
                continuation.resume(with: Result { try self.engine.withLock { try $0.open(settings) } })
            }
        }
    }

    /// Carries out what was submitted before, then closes the database. Calls submitted later are refused.
    func close() async {
        await withCheckedContinuation { continuation in
            schedule {
                self.drain()
                self.engine.withLock { $0.close() }
                continuation.resume()
            }
        }
    }

    /// Ends the watches of a session that is gone, after the calls that it made before.
    func sessionClosed(_ session: SessionID) {
        schedule {
            self.drain()
            self.engine.withLock { $0.sessionClosed(session) }
        }
    }

    /// Carries a replay on: tells a page, then queues up again, so that others get their turn in between.
    func replay(_ replay: WatchRegistry.ReplayID) {
        submit(
            StoreCall(
                session: replay.session, effect: .read, sizeBytes: 0, isCancelled: { false },
                work: { access in
                    if try access.tellNextPage(of: replay) { access.sink.whenTaken { self.replay(replay) } }
                    return []
                },
                answer: { outcome in
                    guard case .failure = outcome else { return }
                    // Not here and now: the engine is at work.
                    self.schedule { self.engine.withLock { $0.stall(replay) } }
                }))
    }

    /// Takes everything that waits, batch after batch. Lane thread.
    private func drain() {
        while true {
            var calls = waiting.withLock { waiting in
                waiting.isDrainScheduled = !waiting.calls.isEmpty
                return exchange(&waiting.calls, with: [])
            }
            if calls.isEmpty { return }
            // Taken out batch by batch, so that the options of what is done do not stay in memory.
            while !calls.isEmpty { calls.removeFirst(carryOutBatch(of: calls)) }
        }
    }

    /// - Returns: How many calls it took from the front.
    private func carryOutBatch(of calls: [StoreCall]) -> Int {
        let batch = BatchPlanner.plan(calls.lazy.map(\.item))
        let taken = calls.prefix(batch.count)
        let replays = engine.withLock { $0.carryOut(batch, of: taken) }
        waiting.withLock { $0.release(taken) }
        replays.forEach(replay)
        return batch.count
    }
}

extension CommitLane.Waiting {
    fileprivate enum Admission {
        /// Nobody is on the way to take it.
        case first
        case queued
        case refused
    }

    fileprivate mutating func admit(_ call: StoreCall) -> Admission {
        if call.sizeBytes > 0 {
            let total = sizeBytes[call.session, default: 0] + call.sizeBytes
            guard total <= Limits.waitingBytesPerSession else { return .refused }
            sizeBytes[call.session] = total
        }
        calls.append(call)
        defer { isDrainScheduled = true }
        return isDrainScheduled ? .queued : .first
    }

    fileprivate mutating func release(_ calls: ArraySlice<StoreCall>) {
        for call in calls where call.sizeBytes > 0 {
            let left = sizeBytes[call.session, default: 0] - call.sizeBytes
            sizeBytes[call.session] = left > 0 ? left : nil
        }
    }
}
