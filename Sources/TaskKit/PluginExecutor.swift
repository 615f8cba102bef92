internal import Synchronization

/// Runs a plugin's `async` code on the daemon's loop thread, through the host's `post`.
///
/// Jobs run in the order in which they were enqueued. At most one `post` is pending at a time. It runs some of the jobs
/// in the queue, and another `post` follows while jobs are left. So neither a plugin that is always busy nor one with
/// thousands of calls keeps the loop from its other work.
final class PluginExecutor: TaskExecutor {
    private struct Queue {
        var host: Host?
        var jobs: [UnownedJob] = []
        var isPosted = false
    }

    /// The maximum number of jobs that one `post` runs.
    private static let jobsPerPost = 64

    private let queue = Mutex(Queue())
    /// The jobs taken from the queue, and the index of the next one. Loop thread only. The queue and this batch swap
    /// their arrays, so a steady flow of jobs allocates nothing.
    @exclusivity(unchecked) private nonisolated(unsafe) var batch: [UnownedJob] = []  // loop thread only
    @exclusivity(unchecked) private nonisolated(unsafe) var next = 0  // loop thread only

    /// Whether the loop thread is in `resume`, and the job that was enqueued there. Only the loop thread uses the job.
    private let isResuming = Atomic<Bool>(false)
    @exclusivity(unchecked) private nonisolated(unsafe) var resumed: UnownedJob?  // loop thread only
    /// Set once, before the first job.
    @exclusivity(unchecked) private nonisolated(unsafe) var host: Host?  // set once, before any job

    /// Sets the host that runs the jobs. Called before the first job.
    func attach(_ host: Host) {
        self.host = host
        queue.withLock { $0.host = host }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isResuming.load(ordering: .relaxed), host?.isLoopThread == true {
            isResuming.store(false, ordering: .relaxed)
            resumed = job
            return
        }
        let host = queue.withLock { queue -> Host? in
            queue.jobs.append(job)
            if queue.isPosted { return nil }
            queue.isPosted = true
            return queue.host
        }
        if let host { post(on: host) }
    }

    private func post(on host: Host) {
        // Retained until `drain` has run: an executor outlives its jobs, but not every `drain` for them.
        host.post(
            // `!`: the pointer given below.
            { Unmanaged<PluginExecutor>.fromOpaque($0!).takeRetainedValue().drain() },
            Unmanaged.passRetained(self).toOpaque())
    }

    /// Resumes a waiting task that prefers this executor, and runs it up to its next suspension before this returns.
    /// Loop thread.
    func resume(_ continuation: UnsafeContinuation<Void, Never>) {
        isResuming.store(true, ordering: .relaxed)
        continuation.resume()
        // The line above has enqueued the job in `resumed`, unless it has run it already.
        isResuming.store(false, ordering: .relaxed)
        resumed.take()?.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// Runs some of the waiting jobs. Loop thread.
    private func drain() {
        if next == batch.count {
            batch.removeAll(keepingCapacity: true)
            next = 0
            queue.withLock { swap(&$0.jobs, &batch) }
        }
        let executor = asUnownedTaskExecutor()
        let end = min(next + Self.jobsPerPost, batch.count)
        while next < end {
            let job = batch[next]
            next += 1
            job.runSynchronously(on: executor)
        }
        let host = queue.withLock { queue in
            queue.isPosted = next < batch.count || !queue.jobs.isEmpty
            return queue.isPosted ? queue.host : nil
        }
        if let host { post(on: host) }
    }
}
