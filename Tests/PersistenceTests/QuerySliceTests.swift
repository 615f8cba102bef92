import Foundation
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

/// A clock that advances by one tick each time that it is read. It can run a hook at a given reading.
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

    /// Runs `hook` on the reading thread, at the next reading of the clock after `count` further ones.
    func onTick(after count: Int, _ hook: @escaping @Sendable () -> Void) {
        state.withLock { $0.hooks[$0.ticks + 1 + count] = hook }
    }
}

/// Runs `body` and blocks the current thread until it has finished.
func wait(for body: @escaping @Sendable () async throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        do { try await body() } catch { Issue.record(error) }
        done.signal()
    }
    done.wait()
}

@Suite("Queries of several users, one slice at a time", .timeLimit(.minutes(20)))
struct QuerySliceTests {
    private typealias Request = TestStore.Request
    /// The number of records in a slice with `TickingClock`, which is read at the beginning of a slice and for each
    /// record.
    private static let recordsInSlice = 20

    private func fill(_ store: TestStore, uid: UInt32 = 1000, _ count: Int) async throws {
        let operations = (0..<count).map { index -> JSON in
            ["create": ["table": "t", "key": .string(key(index)), "record": ["n": .number(JSONNumber(index))]]]
        }
        try await store.call("transaction", ["operations": .array(operations)], uid: uid)
        // After this, the commits lane reads the clock no more.
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

    @Test("A scan without matches takes turns like any other query")
    func noMatch() async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        try await fill(store, uid: 1000, 200)
        try await fill(store, uid: 2000, 3)
        let long = query(1, uid: 1000, ["where": ["n": -1]])
        #expect(await store.order(of: [long, long, query(2, uid: 2000)]) == [2, 0, 1])
    }

    @Test("Long queries of several users take turns; those of one user run one after the other")
    func turns() async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        for (uid, count) in [(1000, 100), (2000, 60), (3000, 80)] as [(UInt32, Int)] {
            try await fill(store, uid: uid, count)
        }
        let order = await store.order(of: [
            query(1, uid: 1000), query(2, uid: 1000), query(3, uid: 2000), query(4, uid: 3000), query(5, uid: 2000),
        ])
        // Rounds of slices: 60 records take four, 80 five, 100 six. The second query of user 2000 ends in the eighth
        // round.
        #expect(order == [2, 3, 0, 4, 1])
    }

    @Test("An interrupted query returns the records of an uninterrupted one", arguments: [nil, "n", "-n"])
    func sameAnswer(_ order: String?) async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        try await fill(store, 150)
        var options: JSONObject = ["where": ["n": ["$gte": 30]]]
        options["order"] = order.map { .string($0) }
        let keys = try await store.send([query(1, uid: 1000, options)])[0].get().keys
        let expected = (30..<150).map(key)
        #expect(keys == (order == "-n" ? expected.reversed() : expected))
    }

    /// Deletes the last record, creates one after it, and changes one in between.
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
        "A query reads the store as it was at the query's start, whatever is written between its slices",
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
        "If the write-ahead log grows too long, it is emptied, and the query continues on the current state",
        arguments: [nil, "n"])
    func longLog(_ order: String?) async throws {
        let ticking = TickingClock()
        let store = try await TestStore(clock: ticking.clock, maximumLogBytes: 500_000)
        try await fill(store, 100)
        #expect(StoreFile(path: store.path).logBytes > 0)
        ticking.onTick(after: Self.recordsInSlice + 1) {
            // This runs between two slices of the query.
            wait { try await change(store, filler: String(repeating: "x", count: 600_000)) }
            store.waitForThread(of: .commits)
            #expect(StoreFile(path: store.path).logBytes == 0)
        }
        var options = JSONObject()
        options["order"] = order.map { .string($0) }
        let page = try await store.send([query(1, uid: 1000, options)])[0].get()
        #expect(page.keys == (0..<99).map(key))
        // The new record is too large for the page.
        #expect(page["cursor"] != nil)
        #expect(isNew(page, key(50)))
    }

    @Test("More long queries than there are snapshots all get the right answer")
    func manyUsers() async throws {
        let store = try await TestStore(clock: TickingClock().clock)
        let users = (0..<UInt32(Limits.snapshots + 4)).map { 2000 + $0 }
        for uid in users { try await fill(store, uid: uid, 50) }
        let pages = await store.send(users.map { query(SessionID($0), uid: $0, ["order": "n"]) })
        for page in pages { #expect(try page.get().keys == (0..<50).map(key)) }
    }

    @Test("A query that began before a restore returns the restored store's records")
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
