import Glibc
import Synchronization
import Testing

/// Runs a suite's tests on a few threads of their own: they block while they wait for other processes, which the threads
/// of Swift's pool, that all other tests share, must not.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Once for each test, not for the suite around it: that would wait on a thread for the tests within.
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    /// The tests block: they get threads of their own.
    static var blocking: Self { OwnThreads() }
}

extension TimeLimitTrait.Duration {
    /// How long a test may take that has threads of its own. Most of it is the wait for its turn behind hundreds of others,
    /// which counts; what the test itself waits for has a ``Deadline`` of its own.
    static var withTurns: Self { .minutes(15) }
}

/// A handful of threads that run jobs in the order in which they come. They live as long as the process.
private final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()

    /// So many daemons run at once. More than there are processors, because the tests mostly wait for each other's.
    private static let threadCount = 4

    private let jobs = Mutex<[UnownedJob]>([])
    private let waiting = Semaphore()

    private init() {
        for _ in 0..<Self.threadCount {
            var thread = pthread_t()
            // The threads run until the process ends, and so does this: it is `shared`.
            let context = Unmanaged.passRetained(self).toOpaque()
            pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    Unmanaged<BlockingThreads>.fromOpaque(context).takeUnretainedValue().serve()
                }, context)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        waiting.signal()
    }

    private func serve() -> Never {
        while true {
            waiting.wait()
            let job = jobs.withLock { $0.removeFirst() }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// A semaphore of the system.
private final class Semaphore: @unchecked Sendable {
    // Unchecked: sem_t is made for many threads, and its address never changes.
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 {}
    }
}
