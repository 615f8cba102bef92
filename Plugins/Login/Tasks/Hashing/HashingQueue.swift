import Synchronization
import TaskKit

/// A queue that hashes passwords one after the other, uids in turn, on its own thread. So neither the loop nor the
/// daemon's few threads for blocking work are kept busy, and only one hash needs memory at a time.
final class HashingQueue: Sendable {
    /// The maximum number of jobs that wait or run. At the usual cost the last one finishes in about 20 s, well within
    /// a call's deadline.
    static let maximumJobs = 256

    /// The maximum number of jobs of one uid, so that no user takes all the slots.
    static let maximumJobsPerUID = 64

    /// The retry time for a caller that finds no free slot. The queue finishes many jobs in this time.
    private static let retryAfter = Duration.seconds(1)

    private struct Jobs {
        var total = 0
        var byUID: [UInt32: Int] = [:]
    }

    private let lane = BlockingThreads(batch: "login-hash")
    private let jobs = Mutex(Jobs())

    /// Reserves a slot for `body`, which may use `run` any number of times.
    ///
    /// - Throws: `busy` if no slot is free; the errors of `body`.
    func withSlot<T: Sendable>(for uid: UInt32, _ body: () async throws -> T) async throws -> T {
        try enter(uid)
        defer { leave(uid) }
        return try await body()
    }

    /// Runs `work` on the thread, in the uid's turn.
    ///
    /// - Throws: The errors of `work`; `CancellationError` if the call ended before its turn.
    func run<T: Sendable>(for uid: UInt32, _ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await lane.run(of: uid, work)
    }

    private func enter(_ uid: UInt32) throws(BridgeError) {
        let isIn = jobs.withLock { jobs in
            let own = jobs.byUID[uid, default: 0]
            if jobs.total >= Self.maximumJobs || own >= Self.maximumJobsPerUID { return false }
            jobs.total += 1
            jobs.byUID[uid] = own + 1
            return true
        }
        if isIn { return }
        throw BridgeError(
            .busy, "too many passwords are waiting to be checked; try again in a moment", data: ["started": false],
            isTransient: true, retryAfter: Self.retryAfter)
    }

    private func leave(_ uid: UInt32) {
        jobs.withLock { jobs in
            jobs.total -= 1
            jobs.byUID[uid] = jobs.byUID[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }
}
