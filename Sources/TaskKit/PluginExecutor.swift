internal import Synchronization

/// Runs a plugin's `async` code on the daemon's loop thread, through the host's `post`.
///
/// Jobs run in the order in which they were enqueued. One `post` is under way at a time: it runs some of the jobs that
/// it finds, and is followed by another one while jobs are left, so that neither a plugin that never rests nor one with
/// thousands of calls keeps the loop from its other work.
final class PluginExecutor: TaskExecutor {
    private struct Queue {
        var host: Host?
        var jobs: [UnownedJob] = []
        var isPosted = false
    }

    /// How many jobs one `post` runs.
    private static let jobsPerPost = 64

    private let queue = Mutex(Queue())
    /// Jobs that were taken out of the queue, and the next one that is to run. Loop thread only. The two arrays take
    /// turns, so that a steady flow allocates nothing.
    @exclusivity(unchecked) private nonisolated(unsafe) var batch: [UnownedJob] = []  // loop thread only
    @exclusivity(unchecked) private nonisolated(unsafe) var next = 0  // loop thread only

    /// Whether the loop thread is in `resume`, and the job that it finds there. The job is the loop thread's only.
    private let isResuming = Atomic<Bool>(false)
    @exclusivity(unchecked) private nonisolated(unsafe) var resumed: UnownedJob?  // loop thread only
    /// Set once, before the first job.
    @exclusivity(unchecked) private nonisolated(unsafe) var host: Host?  // set once, before any job

    /// Gives the executor the host to run its jobs on. Before the first job.
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
        // Retained until the drain has run: an executor outlives its jobs, but not each of its jobs' drains.
        host.post(
            // `!`: the pointer given below.
            { Unmanaged<PluginExecutor>.fromOpaque($0!).takeRetainedValue().drain() },
            Unmanaged.passRetained(self).toOpaque())
    }

    /// Resumes a task that prefers this executor and waits, and runs it up to its next suspension before this returns.
    /// Loop thread.
    func resume(_ continuation: UnsafeContinuation<Void, Never>) {
        isResuming.store(true, ordering: .relaxed)
        continuation.resume()
        // Enqueued here by the line above, unless that has run it.
        isResuming.store(false, ordering: .relaxed)
        resumed.take()?.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// Runs some of the jobs that wait. Loop thread.
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
