internal import CThread
internal import Glibc

/// Threads of its owner's own for work that blocks or takes long: a database, a slow hash. Jobs begin in the order in
/// which they were submitted, those of several users in turns, so that no user waits for all jobs of another. With one
/// thread, the default, they do not overlap either.
///
/// Making it has no effect: its threads start with the first jobs. When the last reference goes, they finish what was
/// submitted and end. As a task executor its threads run Swift tasks: `Task(executorPreference: threads) { … }`.
///
/// If the system gives it no thread at all, a job runs on the thread that submits it, which waits meanwhile: on the
/// loop thread, all others wait too.
public final class BlockingThreads: TaskExecutor {
    private let queue: LaneQueue

    /// - Parameters:
    ///   - name: What debuggers and `ps -L` show; its first 15 bytes.
    ///   - count: How many jobs may run in parallel, at least 1.
    public init(name: String, count: Int = 1) {
        queue = LaneQueue(name: name, threads: max(1, count), isBatch: false)
    }

    /// One thread for work that takes processor time and that others need not wait for: it does not interrupt the
    /// thread that gives it a job, and makes way immediately for those that have something short to do. It has its
    /// share of a processor all the same.
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

    /// Runs `body` on one of the threads and waits for it, without blocking the thread that asks, as long as there
    /// can be a thread. If the Swift task that waits is cancelled, `ByteReader.readBlocking` in `body` throws. Any
    /// thread.
    ///
    /// - Parameters:
    ///   - user: The uid for which it is done; the owner's own jobs take turns as those of uid 0.
    ///   - body: The work.
    /// - Throws: What `body` throws; `CancellationError` where the task was cancelled before its turn came: `body` is
    ///   not run then.
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

    /// Runs `body` on one of the threads, in its turn, and waits for nothing, as long as there can be a thread; also if
    /// this is released meanwhile. The body reports its errors itself. Any thread.
    ///
    /// - Parameters:
    ///   - user: As for `run`.
    ///   - body: The work.
    public func submit(of user: UInt32 = 0, _ body: @escaping @Sendable () -> Void) {
        queue.append(body, of: user)
    }
}

/// The jobs of a lane and the means to wait for one.
///
/// `@unchecked`: everything that changes is guarded by `mutex`. A pthread mutex, because the standard library's has no
/// condition to wait for.
private final class LaneQueue: @unchecked Sendable {  // guarded by `mutex`
    typealias Job = @Sendable () -> Void

    /// Some times as long as the kernel's own turns, of 0.7 to 3 ms: so that a thread with such a turn comes first. Two
    /// batch threads on one core wait for each other's.
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
        // The system gave no thread: late on this one is better than never.
        if !hasThread { job() }
    }

    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_mutex_unlock(mutex)
        pthread_cond_broadcast(changed)
    }

    /// The job whose turn it is; waits for one. Nil: closed, and none is left.
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
                // `!`: the pointer given below. The thread keeps the queue alive, not the lane, whose end it waits for.
                let queue = Unmanaged<LaneQueue>.fromOpaque(argument!).takeRetainedValue()
                queue.prepareThread()
                while let job = queue.take() { job() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard status == 0 else {
            // What the thread would have taken over.
            Unmanaged.passUnretained(self).release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Sets up the thread that calls it.
    private func prepareThread() {
        cthread_set_name(name)
        if isBatch { cthread_be_batch(Self.batchTurnNanoseconds) }
    }
}
