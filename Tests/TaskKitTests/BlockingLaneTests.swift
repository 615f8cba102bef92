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

/// Tells of its end.
private final class Watched: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
}

@Suite("A blocking lane")
struct BlockingLaneTests {
    @Test("runs its jobs in order")
    func order() async throws {
        let lane = BlockingLane(name: "order")
        let order = Order()
        for number in 0..<100 { lane.submit { order.add(number) } }
        try await lane.run {}
        #expect(order.all == Array(0..<100))
    }

    @Test("takes the jobs of several users in turns, and those of each in order")
    func turns() async throws {
        let lane = BlockingLane(name: "turns")
        let order = Order()
        let gate = DispatchSemaphore(value: 0)
        lane.submit { gate.wait() }
        for number in 10..<14 { lane.submit(of: 1000) { order.add(number) } }
        for number in 20..<22 { lane.submit(of: 2000) { order.add(number) } }
        gate.signal()
        try await lane.run(of: 1000) {}
        #expect(order.all == [10, 20, 11, 21, 12, 13])
    }

    @Test("hands on what a job returns or throws")
    func results() async throws {
        struct Failure: Error {}
        let lane = BlockingLane(name: "a name that is longer than a thread's may be")
        #expect(try await lane.run { 42 } == 42)
        await #expect(throws: Failure.self) { try await lane.run { throw Failure() } }
    }

    @Test("with several threads runs as many jobs at once")
    func severalThreads() async throws {
        let lane = BlockingLane(name: "several", threads: 3)
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
        let lane = BlockingLane(name: "cancelled")
        let gate = DispatchSemaphore(value: 0)
        lane.submit { gate.wait() }
        let order = Order()
        let task = Task { try await lane.run { order.add(1) } }
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(order.all == [])
    }

    @Test("that is released finishes its jobs, and its thread ends")
    func released() async {
        let gate = DispatchSemaphore(value: 0)
        let order = Order()
        await withCheckedContinuation { continuation in
            // What a thread keeps under the key is let go of when the thread ends.
            var key = pthread_key_t()
            pthread_key_create(&key) { Unmanaged<Watched>.fromOpaque($0!).release() }  // `!`: called for values only
            let lane = BlockingLane(name: "released")
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
