import Glibc
import Synchronization
import Testing

/// Runs a few tests of a suite at a time, each on its own threads. These tests block while they wait for other
/// processes, which the threads of Swift's shared pool must not do.
///
/// The time limit is here because the wait for a turn, behind hundreds of other tests, does not count.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    /// The time that a test may take from the beginning of its turn: several times what any test takes on a busy
    /// machine. It bounds the time for which a failing test hangs.
    private static let limit = Duration.seconds(1_200)
    /// The time after the limit at which the whole run is ended, so that the stacks of the threads show what the test
    /// waits for.
    private static let grace = Duration.seconds(60)

    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Applies to each test, not to the suite around it, which would wait for its own tests.
        guard testCase != nil else { return try await function() }
        await Turns.shared.take()
        defer { Turns.shared.release() }
        let watch = Task {
            try await Task.sleep(for: Self.limit)
            Issue.record("it takes longer than \(Self.limit)")
            try await Task.sleep(for: Self.grace)
            fatalError("\(test.name) has not ended \(Self.grace) after its limit of \(Self.limit)")
        }
        defer { watch.cancel() }
        try await withTaskExecutorPreference(TestThreads.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    /// The trait of tests that block: they run in turns and on their own threads.
    static var blocking: Self { OwnThreads() }
}

/// Limits the number of tests that run at once. The others wait without a thread, in the order in which they arrived.
private final class Turns: Sendable {
    static let shared = Turns()

    /// The number may exceed that of the processors, because the tests mostly wait for other processes.
    private static let count = 4

    private struct State {
        var free = Turns.count
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}

/// Threads that run jobs in the order in which they arrive. A new thread starts whenever all are busy, so that a job
/// that blocks never delays another. The threads run until the process ends.
private final class TestThreads: TaskExecutor {
    static let shared = TestThreads()

    private struct State {
        var jobs: [UnownedJob] = []
        /// The number of threads that wait for a job or are about to.
        var idle = 0
    }

    private let state = Mutex(State())
    private let waiting = Semaphore()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.jobs.count > state.idle else { return false }
            state.idle += 1
            return true
        }
        if needsThread { startThread() }
        waiting.signal()
    }

    private func startThread() {
        var thread = pthread_t()
        // The threads run until the process ends, and so does this object: it is `shared`.
        let context = Unmanaged.passRetained(self).toOpaque()
        let failure = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<TestThreads>.fromOpaque(context).takeUnretainedValue().serve()
            }, context)
        precondition(failure == 0, "no thread for a test: error \(failure)")
    }

    private func serve() -> Never {
        while true {
            waiting.wait()
            let job = state.withLock { state in
                state.idle -= 1
                return state.jobs.removeFirst()
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
            state.withLock { $0.idle += 1 }
        }
    }
}

/// A POSIX semaphore.
private final class Semaphore: @unchecked Sendable {
    // Unchecked: sem_t is made for several threads, and its address never changes.
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
