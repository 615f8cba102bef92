import Synchronization
import TaskKit

/// The queue in front of the store. Any thread puts calls in; one thread, the lane's, takes what has come together, a
/// batch at a time.
final class CommitLane: Sendable {
    /// Runs jobs one after the other, in their order, on a thread that may block.
    typealias Scheduler = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    private struct Waiting {
        var calls: [StoreCall] = []
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

    /// Queues a call. Its place in the order is that of the call of this method.
    func submit(_ call: StoreCall) {
        let isFirst = waiting.withLock { waiting in
            waiting.calls.append(call)
            defer { waiting.isDrainScheduled = true }
            return !waiting.isDrainScheduled
        }
        if isFirst { schedule { self.drain() } }
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
            let calls = waiting.withLock { waiting in
                waiting.isDrainScheduled = !waiting.calls.isEmpty
                return exchange(&waiting.calls, with: [])
            }
            if calls.isEmpty { return }
            var rest = calls[...]
            while !rest.isEmpty {
                let batch = BatchPlanner.plan(rest.lazy.map(\.item))
                let replays = engine.withLock { $0.carryOut(batch, of: rest.prefix(batch.count)) }
                rest = rest.dropFirst(batch.count)
                replays.forEach(replay)
            }
        }
    }
}
