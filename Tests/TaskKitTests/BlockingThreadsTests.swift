import Dispatch
import Glibc
import Synchronization
import TaskKit
import Testing

private final class Order: Sendable {
    private let list = Mutex<[Int]>([])
    func add(_ number: Int) { list.withLock { $0.append(number) } }
    var all: [Int] { list.withLock { $0 } }
}

/// Reports its deinitialisation.
private final class Watched: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
}

@Suite("A blocking lane", .timeLimit(.minutes(20)))
struct BlockingThreadsTests {
    @Test("runs its jobs in order")
    func order() async throws {
        let lane = BlockingThreads(name: "order")
        let order = Order()
        for number in 0..<100 { lane.submit { order.add(number) } }
        try await lane.run {}
        #expect(order.all == Array(0..<100))
    }

    @Test("takes the jobs of several users in turn, and each user's jobs in order")
    func turns() async throws {
        let lane = BlockingThreads(name: "turns")
        let order = Order()
        let gate = DispatchSemaphore(value: 0)
        lane.submit { gate.wait() }
        for number in 10..<14 { lane.submit(of: 1000) { order.add(number) } }
        for number in 20..<22 { lane.submit(of: 2000) { order.add(number) } }
        gate.signal()
        try await lane.run(of: 1000) {}
        #expect(order.all == [10, 20, 11, 21, 12, 13])
    }

    @Test("passes on the result or error of a job")
    func results() async throws {
        struct Failure: Error {}
        let lane = BlockingThreads(name: "a name that is longer than a thread's may be")
        #expect(try await lane.run { 42 } == 42)
        await #expect(throws: Failure.self) { try await lane.run { throw Failure() } }
    }

    @Test("runs as many jobs at once as it has threads")
    func severalThreads() async throws {
        let lane = BlockingThreads(name: "several", count: 3)
        // Each job waits for the other two: with fewer threads they would wait for ever.
        let arrived = (0..<3).map { _ in DispatchSemaphore(value: 0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    try await lane.run {
                        for _ in 0..<2 { arrived[number].signal() }
                        for other in 0..<3 where other != number { arrived[other].wait() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("does not begin a job whose task was cancelled")
    func cancelled() async throws {
        let lane = BlockingThreads(name: "cancelled")
        let gate = DispatchSemaphore(value: 0)
        lane.submit { gate.wait() }
        let order = Order()
        let task = Task { try await lane.run { order.add(1) } }
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(order.all == [])
    }

    @Test("finishes its jobs and ends its thread when it is released")
    func released() async {
        let gate = DispatchSemaphore(value: 0)
        let order = Order()
        await withCheckedContinuation { continuation in
            // The value under the key is released when the thread ends.
            var key = pthread_key_t()
            pthread_key_create(&key) { Unmanaged<Watched>.fromOpaque($0!).release() }  // `!`: called for values only
            let lane = BlockingThreads(name: "released")
            lane.submit { [key] in
                pthread_setspecific(key, Unmanaged.passRetained(Watched { continuation.resume() }).toOpaque())
                gate.wait()
            }
            lane.submit { order.add(1) }
            gate.signal()
        }
        #expect(order.all == [1])
    }
}

/// Records the threads on which its code runs.
private actor Ledger {
    private let thread: BlockingExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    private var entries: [pthread_t] = []

    init(_ thread: BlockingExecutor) { self.thread = thread }

    /// Blocks, as a database would.
    func add() {
        let count = entries.count
        sched_yield()
        entries.append(pthread_self())
        precondition(entries.count == count + 1, "two jobs overlapped")
    }

    func threads() -> [pthread_t] { entries }

    /// Suspends in between.
    func addTwice() async {
        add()
        await Task.yield()
        add()
    }
}

@Suite("A blocking executor", .timeLimit(.minutes(20)))
struct BlockingExecutorTests {
    @Test("runs an actor's code on one thread of its own, for any calling task")
    func actorsThread() async {
        let ledger = Ledger(BlockingExecutor(name: "ledger"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { await ledger.addTwice() } }
        }
        let threads = await ledger.threads()
        #expect(threads.count == 100 && Set(threads).count == 1)
        #expect(threads.first != pthread_self())
    }

    @Test("is shared by actors whose code does not overlap")
    func shared() async {
        let executor = BlockingExecutor(name: "shared")
        let (one, other) = (Ledger(executor), Ledger(executor))
        await one.add()
        await other.add()
        #expect(await one.threads() == other.threads())
    }

    @Test("runs tasks that prefer it on one thread, and several at once on several threads")
    func preferred() async {
        let executor = BlockingExecutor(name: "preferred")
        let first = await Task(executorPreference: executor) { pthread_self() }.value
        let second = await Task(executorPreference: executor) { pthread_self() }.value
        #expect(first == second)
        let threads = BlockingThreads(name: "several", count: 2)
        let meeting = DispatchSemaphore(value: 0), answer = DispatchSemaphore(value: 0)
        async let waiting: Void = Task(executorPreference: threads) { wait(meeting, answer) }.value
        await Task(executorPreference: threads) { wait(answer, meeting, first: true) }.value
        await waiting
    }

    /// Lets each of two threads release the other one.
    private nonisolated func wait(_ own: DispatchSemaphore, _ others: DispatchSemaphore, first: Bool = false) {
        if first { others.signal() }
        own.wait()
        if !first { others.signal() }
    }
}
