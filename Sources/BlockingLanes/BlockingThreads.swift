internal import CThread
internal import Glibc

/// Threads of an owner for work that blocks or takes long: for a database, or a slow hash. Jobs begin in the order of
/// their submission, those of several users in turns, so that no user waits for all jobs of another. With one thread,
/// the default, they do not overlap.
///
/// Creating it starts no thread: the threads start with the first jobs. When the last reference is released, they
/// finish the submitted jobs and end. As a task executor its threads run Swift tasks: `Task(executorPreference:
/// threads) { … }`.
///
/// If the system provides no thread at all, a job runs on the submitting thread, which is blocked meanwhile. If that is
/// the loop thread, all other work waits, too.
public final class BlockingThreads: TaskExecutor {
    private let queue: LaneQueue

    /// - Parameters:
    ///   - name: The threads' name in debuggers and `ps -L`, which show its first 15 bytes.
    ///   - count: The maximum number of parallel jobs, at least 1.
    public init(name: String, count: Int = 1) {
        queue = LaneQueue(name: name, threads: max(1, count), isBatch: false)
    }

    /// Creates a lane with one thread for batch work, which takes processor time and for which no other thread must
    /// wait. The thread does not preempt the one that submits a job, and yields immediately to threads with short work.
    /// It still gets its share of a processor.
    package init(batch name: String) {
        queue = LaneQueue(name: name, threads: 1, isBatch: true)
    }

    deinit {
        queue.close()
    }

    /// Runs a job of a Swift task that prefers these threads. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs `body` on one of the threads and waits for it, without blocking the calling thread, if the system provides
    /// a thread. If the waiting Swift task is cancelled, `ByteReader.readBlocking` in `body` throws. Any thread.
    ///
    /// - Parameters:
    ///   - user: The uid for which the work is done; the owner's own jobs take turns as those of uid 0.
    ///   - body: The work.
    /// - Throws: The errors of `body`; `CancellationError` if the task was cancelled before its turn. `body` does not
    ///   run then.
    public func run<T: Sendable>(
        of user: UInt32 = 0, _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        let scope = BlockingScope()
        return try await withTaskCancellationHandler {
            try await withCheckedContinuation { continuation in
                submit(of: user) {
                    continuation.resume(
                        returning: Result {
                            if scope.isCancelled { throw CancellationError() }
                            return try scope.run(body)
                        })
                }
            }.get()
        } onCancel: {
            scope.cancel()
        }
    }

    /// Runs `body` on one of the threads, in its turn, and does not wait for it, if the system provides a thread.
    /// `body` runs even if this object is released in the meantime. It reports its errors itself. Any thread.
    ///
    /// - Parameters:
    ///   - user: As for `run`.
    ///   - body: The work.
    public func submit(of user: UInt32 = 0, _ body: @escaping @Sendable () -> Void) {
        queue.append(body, of: user)
    }
}

/// The jobs of a lane, and the condition to wait for one.
///
/// `@unchecked`: all mutable state is guarded by `mutex`. It is a pthread mutex, because the standard library has no
/// condition variable.
private final class LaneQueue: @unchecked Sendable {  // guarded by `mutex`
    typealias Job = @Sendable () -> Void

    /// The time slice of a batch thread: several times the kernel's default of 0.7 to 3 ms, so that threads with the
    /// default slice run first. Two batch threads on one core wait for each other's slices.
    private static let batchTurnNanoseconds: UInt64 = 8_000_000

    private let name: String
    private let maximumThreads: Int
    private let isBatch: Bool
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var threads = 0
    private var waiting = UserTurns<Job>()
    private var isClosed = false

    init(name: String, threads: Int, isBatch: Bool) {
        self.name = name
        self.isBatch = isBatch
        self.maximumThreads = threads
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    func append(_ job: @escaping Job, of user: UInt32) {
        pthread_mutex_lock(mutex)
        if threads < maximumThreads, startThread() { threads += 1 }
        let hasThread = threads > 0
        if hasThread { waiting.append(job, of: user) }
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(changed)
        // The system provided no thread: the job runs on this one instead.
        if !hasThread { job() }
    }

    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_mutex_unlock(mutex)
        pthread_cond_broadcast(changed)
    }

    /// Waits for the next job and returns it; `nil` if the queue is closed and no job is left.
    private func take() -> Job? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let job = waiting.popFirst() { return job }
            if isClosed { return nil }
            pthread_cond_wait(changed, mutex)
        }
    }

    private func startThread() -> Bool {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                // `!`: the pointer passed below. The thread retains the queue, not the lane, for whose release it
                // waits.
                let queue = Unmanaged<LaneQueue>.fromOpaque(argument!).takeRetainedValue()
                queue.prepareThread()
                while let job = queue.take() { job() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard status == 0 else {
            // The reference that the thread would have taken.
            Unmanaged.passUnretained(self).release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Sets up the calling thread.
    private func prepareThread() {
        cthread_set_name(name)
        if isBatch { cthread_be_batch(Self.batchTurnNanoseconds) }
    }
}
