import Foundation
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

/// A clock that goes on by a millisecond each time that it is read, and does something at some of these times.
final class TickingClock: Sendable {
    private struct State {
        var ticks = 0
        var hooks: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())
    private let tick: Duration

    init(tick: Duration = .milliseconds(1)) { self.tick = tick }

    var clock: Slice.Clock {
        {
            let (ticks, hook) = self.state.withLock { state in
                state.ticks += 1
                return (state.ticks, state.hooks.removeValue(forKey: state.ticks))
            }
            hook?()
            return self.tick * ticks
        }
    }

    /// Does something, on the thread that reads, the next time that the clock is read, after so many times in between.
    func onTick(after count: Int, _ hook: @escaping @Sendable () -> Void) {
        state.withLock { $0.hooks[$0.ticks + 1 + count] = hook }
    }
}

/// Waits on a thread that may block.
func wait(for body: @escaping @Sendable () async throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        do { try await body() } catch { Issue.record(error) }
        done.signal()
    }
    done.wait()
}

@Suite("Queries of several users, a slice of each at a time", .timeLimit(.minutes(20)))
struct QuerySliceTests {
    private typealias Request = TestStore.Request
    /// With the clock above: it is read once at the beginning of a slice, and once for each record.
    private static let recordsInSlice = 20

    private func fill(_ store: TestStore, uid: UInt32 = 1000, _ count: Int) async throws {
        let operations = (0..<count).map { index -> JSON in
            ["create": ["table": "t", "key": .string(key(index)), "record": ["n": .number(JSONNumber(index))]]]
        }
        try await store.call("transaction", ["operations": .array(operations)], uid: uid)
        // The lane of commits reads the clock no more.
        await store.finishJobs()
    }

    private func key(_ number: Int) -> String { "k\(number + 1000)" }

    private func query(_ session: SessionID, uid: UInt32, _ options: JSONObject = [:]) -> Request {
        var options = options
        options["table"] = "t"
        options["limit"] = 1000
        return Request("query", .object(options), session: session, uid: uid)
    }

    @Test(
        "A query waits for one slice of another user's queries, however many and long they are", arguments: [nil, "n"])
    func others(_ order: String?) async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        try await fill(store, uid: 1000, 200)
        try await fill(store, uid: 2000, 3)
        var options = JSONObject()
        options["order"] = order.map { .string($0) }
        let long = (0..<8).map { query(SessionID($0), uid: 1000, options) }
        #expect(await store.order(of: long + [query(20, uid: 2000, options)]) == [8, 0, 1, 2, 3, 4, 5, 6, 7])
    }

    @Test("A scan in which nothing matches takes turns like any other")
    func noMatch() async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        try await fill(store, uid: 1000, 200)
        try await fill(store, uid: 2000, 3)
        let long = query(1, uid: 1000, ["where": ["n": -1]])
        #expect(await store.order(of: [long, long, query(2, uid: 2000)]) == [2, 0, 1])
    }

    @Test("Long queries of several users go on in turns, those of one user one after the other")
    func turns() async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        for (uid, count) in [(1000, 100), (2000, 60), (3000, 80)] as [(UInt32, Int)] {
            try await fill(store, uid: uid, count)
        }
        let order = await store.order(of: [
            query(1, uid: 1000), query(2, uid: 1000), query(3, uid: 2000), query(4, uid: 3000), query(5, uid: 2000),
        ])
        // Rounds of slices: 60 records take four, 80 five, 100 six; of the user 2000 the second query ends in the
        // eighth.
        #expect(order == [2, 3, 0, 4, 1])
    }

    @Test("The answer is that of a query that is never interrupted", arguments: [nil, "n", "-n"])
    func sameAnswer(_ order: String?) async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        try await fill(store, 150)
        var options: JSONObject = ["where": ["n": ["$gte": 30]]]
        options["order"] = order.map { .string($0) }
        let keys = try await store.send([query(1, uid: 1000, options)])[0].get().keys
        let expected = (30..<150).map(key)
        #expect(keys == (order == "-n" ? expected.reversed() : expected))
    }

    /// Deletes the last record, makes one behind it, and changes one between.
    private func change(_ store: TestStore, filler: String = "") async throws {
        let operations: [JSON] = [
            ["delete": ["table": "t", "key": .string(key(99))]],
            ["create": ["table": "t", "key": .string(key(100)), "record": ["n": 100, "filler": .string(filler)]]],
            ["update": ["table": "t", "key": .string(key(50)), "record": ["n": 50, "new": true]]],
        ]
        try await store.call("transaction", ["operations": .array(operations)], session: 9)
    }

    private func isNew(_ page: JSON, _ key: String) -> Bool {
        page["records"]?.arrayValue?.first { $0.key == key }?["record"]?["new"] == true
    }

    @Test(
        "A query finds the store as it was when it began, whatever is written between its slices",
        arguments: [nil, "n"])
    func asOfOneMoment(_ order: String?) async throws {
        let ticking = TickingClock()
        let store = try await TestStore(clock: ticking.clock)
        try await fill(store, 100)
        ticking.onTick(after: Self.recordsInSlice + 1) { wait { try await change(store) } }
        var options = JSONObject()
        options["order"] = order.map { .string($0) }
        let page = try await store.send([query(1, uid: 1000, options)])[0].get()
        #expect(page.keys == (0..<100).map(key))
        #expect(!isNew(page, key(50)))
        #expect(try await store.send([query(1, uid: 1000, options)])[0].get().keys.last == key(100))
    }

    @Test(
        "Where the log has grown too long, it is emptied, and the query goes on with what is stored by then",
        arguments: [nil, "n"])
    func longLog(_ order: String?) async throws {
        let ticking = TickingClock()
        let store = try await TestStore(clock: ticking.clock, maximumLogBytes: 500_000)
        try await fill(store, 100)
        #expect(StoreFile(path: store.path).logBytes > 0)
        ticking.onTick(after: Self.recordsInSlice + 1) {
            // Between two slices of the query.
            wait { try await change(store, filler: String(repeating: "x", count: 600_000)) }
            store.waitForThread(of: .commits)
            #expect(StoreFile(path: store.path).logBytes == 0)
        }
        var options = JSONObject()
        options["order"] = order.map { .string($0) }
        let page = try await store.send([query(1, uid: 1000, options)])[0].get()
        #expect(page.keys == (0..<99).map(key))
        // The new one is too large for the page.
        #expect(page["cursor"] != nil)
        #expect(isNew(page, key(50)))
    }

    @Test("More long queries than keep the store as it was are all answered rightly")
    func manyUsers() async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        let users = (0..<UInt32(Limits.snapshots + 4)).map { 2000 + $0 }
        for uid in users { try await fill(store, uid: uid, 50) }
        let pages = await store.send(users.map { query(SessionID($0), uid: $0, ["order": "n"]) })
        for page in pages { #expect(try page.get().keys == (0..<50).map(key)) }
    }

    @Test("A query that was begun before a restore is carried out on the restored store as a whole")
    func restore() async throws {
        let ticking = TickingClock()
        let store = try await TestStore(clock: ticking.clock)
        try await fill(store, 30)
        let backup = try await store.backup()
        try await store.call("delete", ["table": "t", "key": .string(key(0))])
        try await store.call("create", ["table": "t", "key": "z", "record": [:]])
        ticking.onTick(after: Self.recordsInSlice + 1) { wait { try await store.restore(backup) } }
        #expect(try await store.send([query(1, uid: 1000)])[0].get().keys == (0..<30).map(key))
        await store.close()
    }

    @Test("The close waits for queries that have begun")
    func close() async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        try await fill(store, 200)
        let release = await store.hold(.queries)
        let pending = store.begin(query(1, uid: 1000))
        async let closed: Void = store.close()
        release()
        await closed
        #expect(try await pending.outcome.get().keys.count == 200)
    }
}
