import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Writes of several users, in turns", .timeLimit(.minutes(20)))
struct CommitTurnsTests {
    private typealias Request = TestStore.Request

    private func create(_ number: Int, _ session: SessionID, uid: UInt32) -> Request {
        Request("create", ["table": "t", "key": .string("k\(number)"), "record": [:]], session: session, uid: uid)
    }

    private func read(_ number: Int, _ session: SessionID, uid: UInt32) -> Request {
        Request("read", ["table": "t", "key": .string("k\(number)")], session: session, uid: uid)
    }

    @Test("A write is the next but one, however many another user has sent before")
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

    @Test("So is a read by key")
    func reads() async throws {
        let store = try await TestStore()
        let many = (0..<300).map { read($0, SessionID($0), uid: 1000) }
        #expect(await store.order(of: many + [read(0, 400, uid: 2000)]).firstIndex(of: 300) == 1)
    }

    /// Time for two writes in a slice: it is read at the beginning, before each write but the first, and twice for
    /// each.
    private var slow: Slice.Clock { TickingClock(tick: .milliseconds(4)).clock }

    @Test("A commit begins no further writes when its slice is over, and they come first in the next")
    func slices() async throws {
        let store = try await TestStore(clock: slow)
        let calls = (0..<6).map { create($0, 1, uid: 1000) } + [create(6, 2, uid: 2000)]
        let order = await store.order(of: calls)
        #expect(order == [0, 6, 1, 2, 3, 4, 5])
        #expect(store.sink.deliveries.suffix(4) == [2, 2, 2, 1])
    }

    @Test("A write shares no commit with the next call of a user whose last one took long")
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
        // One in each of two batches, and one more in the batch of the slow write.
        #expect(reads.count <= (isSlow ? 3 : 2))
    }

    @Test("What is left of a batch keeps each session's order, watches included")
    func leftWatch() async throws {
        let store = try await TestStore(clock: slow)
        let watch = Request("watch", ["table": "t"], session: 1, uid: 1000)
        let order = await store.order(of: [
            create(0, 1, uid: 1000), create(1, 2, uid: 1000), watch, create(3, 3, uid: 1000), create(4, 1, uid: 1000),
        ])
        #expect(order == [0, 1, 2, 3, 4])
        await store.settle()
        // The writes of its own before the watch are none of its news.
        #expect(store.sink.sent(1) == ["3 create k3", "4 create k4"])
    }

    @Test("A call that comes while another user's batch is at work is carried out before what is left of that")
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

    @Test("No answer waits for the decoding of another call's long options")
    func longOptions() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "k0", "record": [:]])
        let filler = JSON.string(String(repeating: "x", count: Limits.shortOptionBytes))
        let long = Request("read", ["table": "t", "key": "k0", "unknown": filler], session: 2, uid: 1000)
        _ = await store.order(of: [read(0, 1, uid: 1000), long, read(0, 3, uid: 1000), long])
        #expect(store.sink.deliveries.suffix(3) == [1, 2, 1])
    }

    @Test("Reads end a delivery when their slice is over")
    func readSlices() async throws {
        let store = try await TestStore(clock: TickingClock(tick: .milliseconds(10)).clock)
        try await store.call("create", ["table": "t", "key": "k0", "record": [:]])
        let calls = (0..<4).map { read(0, SessionID($0), uid: 1000) }
        #expect(await store.order(of: calls) == [0, 1, 2, 3])
        #expect(store.sink.deliveries.suffix(2) == [2, 2])
    }
}

/// Reads of one user on the lane of commits, each followed by another one.
private final class LongReads: Sendable {
    /// An end for a store that would go on with them for ever.
    private static let maximum = 50

    private let store: Store
    private let work: @Sendable () -> Void
    private let state = Mutex((count: 0, isOver: false))

    init(_ store: Store, _ work: @escaping @Sendable () -> Void) { (self.store, self.work) = (store, work) }

    /// How many were carried out before the end.
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
