import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Writes of several users take turns", .timeLimit(.minutes(20)))
struct CommitTurnsTests {
    private typealias Request = TestStore.Request

    private func create(_ number: Int, _ session: SessionID, uid: UInt32) -> Request {
        Request("create", ["table": "t", "key": .string("k\(number)"), "record": [:]], session: session, uid: uid)
    }

    private func read(_ number: Int, _ session: SessionID, uid: UInt32) -> Request {
        Request("read", ["table": "t", "key": .string("k\(number)")], session: session, uid: uid)
    }

    @Test("A write is carried out second, however many calls another user has sent before")
    func others() async throws {
        let store = try await TestStore()
        let many = (0..<300).map { create($0, SessionID($0 % 3), uid: 1000) }
        let order = await store.order(of: many + [create(0, 20, uid: 2000)])
        #expect(order.firstIndex(of: 300) == 1)
        for session in 0..<3 {
            let own = order.filter { $0 < 300 && $0 % 3 == session }
            #expect(own == own.sorted())
        }
    }

    @Test("A read by key is carried out second, however many reads another user has sent before")
    func reads() async throws {
        let store = try await TestStore()
        let many = (0..<300).map { read($0, SessionID($0), uid: 1000) }
        #expect(await store.order(of: many + [read(0, 400, uid: 2000)]).firstIndex(of: 300) == 1)
    }

    /// A clock that allows two writes in a slice. The slice reads it at the beginning, before each write except the
    /// first, and twice for each write.
    private var slow: Slice.Clock { TickingClock(tick: .milliseconds(4)).clock }

    @Test("A commit starts no further writes when its slice is over, and the next commit starts with them")
    func slices() async throws {
        let store = try await TestStore(clock: slow)
        let calls = (0..<6).map { create($0, 1, uid: 1000) } + [create(6, 2, uid: 2000)]
        let order = await store.order(of: calls)
        #expect(order == [0, 6, 1, 2, 3, 4, 5])
        #expect(store.sink.deliveries.suffix(4) == [2, 2, 2, 1])
    }

    @Test("A write shares no commit with calls of a user whose last call took long")
    func slowUser() async throws {
        let time = Mutex(Duration.zero)
        let store = try await TestStore(clock: { time.withLock { $0 } })
        let release = await store.hold(.commits)
        for _ in 0..<3 {
            let work: @Sendable (StoreAccess) -> Void = { _ in time.withLock { $0 += .milliseconds(30) } }
            store.store.submit(StoreJob(session: 1, user: 1000, .write, work, end: { _ in }))
        }
        let write = store.begin(create(0, 2, uid: 2000))
        release()
        _ = try await write.outcome.get()
        await store.finishJobs()
        #expect(store.sink.deliveries.suffix(4) == [1, 1, 1, 1])
    }

    @Test("A write waits for one batch of another user's long reads, however many follow", arguments: [false, true])
    func longReads(isSlow: Bool) async throws {
        let time = Mutex(Duration.zero)
        let store = try await TestStore(clock: { time.withLock { $0 } })
        let release = await store.hold(.commits)
        if isSlow {
            let work: @Sendable (StoreAccess) -> Void = { _ in time.withLock { $0 += .milliseconds(25) } }
            store.store.submit(StoreJob(session: 2, user: 2000, .write, work, end: { _ in }))
        }
        let reads = LongReads(store.store) { time.withLock { $0 += .milliseconds(25) } }
        for session in 10..<13 { reads.submit(as: SessionID(session)) }
        let write = store.begin(create(0, 2, uid: 2000)) { reads.end() }
        release()
        _ = try await write.outcome.get()
        await store.finishJobs()
        // One read in each of two batches, and one more in the batch of the slow write.
        #expect(reads.count <= (isSlow ? 3 : 2))
    }

    @Test("The calls left of a batch keep each session's order, watches included")
    func leftWatch() async throws {
        let store = try await TestStore(clock: slow)
        let watch = Request("watch", ["table": "t"], session: 1, uid: 1000)
        let order = await store.order(of: [
            create(0, 1, uid: 1000), create(1, 2, uid: 1000), watch, create(3, 3, uid: 1000), create(4, 1, uid: 1000),
        ])
        #expect(order == [0, 1, 2, 3, 4])
        await store.settle()
        // The watch does not report its session's earlier writes.
        #expect(store.sink.sent(1) == ["3 create k3", "4 create k4"])
    }

    @Test("A call that arrives during another user's batch is carried out before the rest of that batch")
    func comesMeanwhile() async throws {
        let time = Mutex(Duration.zero)
        let order = Mutex([Int]())
        let store = try await TestStore(clock: { time.withLock { $0 } })
        let release = await store.hold(.commits)
        @Sendable func submit(_ number: Int, uid: UInt32, _ work: @escaping @Sendable () -> Void) {
            let work: @Sendable (StoreAccess) -> Void = { _ in
                order.withLock { $0.append(number) }
                work()
            }
            store.store.submit(StoreJob(session: SessionID(uid), user: uid, .write, work, end: { _ in }))
        }
        submit(0, uid: 1000) {
            time.withLock { $0 += .milliseconds(30) }
            submit(3, uid: 2000) {}
        }
        submit(1, uid: 1000) {}
        submit(2, uid: 1000) {}
        release()
        await store.finishJobs()
        #expect(order.withLock { $0 } == [0, 3, 1, 2])
    }

    @Test("Answers are delivered before a call with long options is decoded")
    func longOptions() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "k0", "record": [:]])
        let filler = JSON.string(String(repeating: "x", count: Limits.shortOptionBytes))
        let long = Request("read", ["table": "t", "key": "k0", "unknown": filler], session: 2, uid: 1000)
        _ = await store.order(of: [read(0, 1, uid: 1000), long, read(0, 3, uid: 1000), long])
        #expect(store.sink.deliveries.suffix(3) == [1, 2, 1])
    }

    @Test("A delivery of reads ends when their slice is over")
    func readSlices() async throws {
        let store = try await TestStore(clock: TickingClock(tick: .milliseconds(10)).clock)
        try await store.call("create", ["table": "t", "key": "k0", "record": [:]])
        let calls = (0..<4).map { read(0, SessionID($0), uid: 1000) }
        #expect(await store.order(of: calls) == [0, 1, 2, 3])
        #expect(store.sink.deliveries.suffix(2) == [2, 2])
    }
}

/// Reads of one user on the commits lane. Each one submits the next.
private final class LongReads: Sendable {
    /// A limit, in case the store would carry out reads for ever.
    private static let maximum = 50

    private let store: StoreQueue
    private let work: @Sendable () -> Void
    private let state = Mutex((count: 0, isOver: false))

    init(_ store: StoreQueue, _ work: @escaping @Sendable () -> Void) { (self.store, self.work) = (store, work) }

    /// The number of reads that were carried out before the end.
    var count: Int { state.withLock { $0.count } }

    func end() { state.withLock { $0.isOver = true } }

    func submit(as session: SessionID) {
        store.submit(
            StoreJob(session: session, user: 1000, .read, { [work] _ in work() }) { _ in
                let goesOn = self.state.withLock { state in
                    if !state.isOver { state.count += 1 }
                    return !state.isOver && state.count < Self.maximum
                }
                if goesOn { self.submit(as: session) }
            })
    }
}
