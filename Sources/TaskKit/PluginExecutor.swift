internal import Synchronization

/// Runs a plugin's `async` code on the daemon's loop thread, through the host's `post`.
///
/// Jobs run in the order in which they were enqueued. One `post` is under way at a time: it runs the jobs that it
/// finds, and those that they enqueue wait for the next turn, so that a plugin that never rests cannot keep the
/// loop from its other work.
final class PluginExecutor: TaskExecutor {
    private struct Queue {
        var host: Host?
        var jobs: [UnownedJob] = []
        /// The array of the drain before, empty: the two take turns, so that a steady flow allocates nothing.
        var spare: [UnownedJob] = []
        var isPosted = false
    }

    private let queue = Mutex(Queue())

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
        guard let host else { return }
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

    /// Runs the jobs that are waiting. Loop thread.
    private func drain() {
        var jobs = queue.withLock { queue in
            queue.isPosted = false
            let jobs = queue.jobs
            queue.jobs = queue.spare
            queue.spare = []
            return jobs
        }
        let executor = asUnownedTaskExecutor()
        for job in jobs { job.runSynchronously(on: executor) }
        jobs.removeAll(keepingCapacity: true)
        queue.withLock { $0.spare = jobs }
    }
}
