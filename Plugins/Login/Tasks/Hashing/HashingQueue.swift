import Synchronization
import TaskKit

/// Where passwords are hashed: one after the other, uid by uid, on a thread of their own, so that neither the loop nor
/// the daemon's few threads for blocking work are kept busy, and memory is taken once.
final class HashingQueue: Sendable {
    /// The most jobs that wait or run. At the usual cost the last one is done in about 20 s, well within a call's
    /// deadline.
    static let maximumJobs = 256

    /// The most jobs of one uid, so that no user takes all the slots.
    static let maximumJobsPerUID = 64

    /// What is said to who finds no free slot: by then the queue has moved on a good deal.
    private static let retryAfter = Duration.seconds(1)

    private struct Jobs {
        var total = 0
        var byUID: [UInt32: Int] = [:]
    }

    private let lane = BlockingThreads(batch: "login-hash")
    private let jobs = Mutex(Jobs())

    /// Keeps a slot free for `body`, which may use `run` any number of times.
    ///
    /// - Throws: `busy`, where there is none; what `body` throws.
    func withSlot<T: Sendable>(for uid: UInt32, _ body: () async throws -> T) async throws -> T {
        try enter(uid)
        defer { leave(uid) }
        return try await body()
    }

    /// Runs `work` on the thread, in the turn of the uid.
    ///
    /// - Throws: What `work` throws; `CancellationError`, where the call had ended before its turn came.
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
            .busy, "too many passwords are waiting to be checked; try again in a moment", isTransient: true,
            retryAfter: Self.retryAfter)
    }

    private func leave(_ uid: UInt32) {
        jobs.withLock { jobs in
            jobs.total -= 1
            jobs.byUID[uid] = jobs.byUID[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }
}
