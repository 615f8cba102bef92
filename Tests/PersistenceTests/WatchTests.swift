import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("Watching a table", .timeLimit(.minutes(20)))
struct WatchTests {
    func create(_ store: TestStore, _ key: String, table: String = "t", session: SessionID = 2) async throws {
        try await store.call(
            "create", ["table": .string(table), "key": .string(key), "record": [:]], session: session)
    }

    func update(_ store: TestStore, _ key: String, session: SessionID = 2) async throws {
        try await store.call("update", ["table": "t", "key": .string(key), "record": [:]], session: session)
    }

    func delete(_ store: TestStore, _ key: String, session: SessionID = 2) async throws {
        try await store.call("delete", ["table": "t", "key": .string(key)], session: session)
    }

    @Test("A watch returns the current version, and sends every later change of its table")
    func live() async throws {
        let store = try await TestStore()
        try await create(store, "before")
        #expect(try await store.call("watch", ["table": "t"]) == ["version": 1])
        try await create(store, "a")
        try await create(store, "elsewhere", table: "u")
        try await update(store, "a")
        try await delete(store, "a")
        await store.settle()
        #expect(store.sink.sent() == ["2 create a", "4 update a", "5 delete a"])
        #expect(store.sink.all.allSatisfy { $0.change.table == "t" && $0.change.namespace == nil })
    }

    @Test("Changes reach only the sessions that watch the table in its namespace")
    func recipients() async throws {
        let store = try await TestStore()
        try await store.call("watch", ["table": "t"], session: 1)
        try await store.call("watch", ["table": "t"], session: 3)
        try await store.call("watch", ["table": "t"], session: 4, uid: 1001)
        try await store.call("watch", ["table": "t", "namespace": "1000:local"], session: 5, uid: 0, isTrusted: true)
        try await create(store, "a", session: 1)
        await store.settle()
        #expect(store.sink.sent(1) == ["1 create a"])
        #expect(store.sink.sent(3) == ["1 create a"])
        #expect(store.sink.sent(4) == [])
        #expect(store.sink.sent(5) == ["1 create a"])
        #expect(store.sink.all.first { $0.session == 5 }?.change.namespace == "1000:local")
    }

    @Test("A change that failed is not sent")
    func failures() async throws {
        let store = try await TestStore()
        try await store.call("watch", ["table": "t"])
        try await create(store, "a")
        _ = try await store.failure("create", ["table": "t", "key": "a", "record": [:]])
        await store.settle()
        #expect(store.sink.sent() == ["1 create a"])
    }

    @Test("A watch ends with stop, and with its session")
    func ends() async throws {
        let store = try await TestStore()
        try await store.call("watch", ["table": "t"])
        try await store.call("watch", ["table": "t"], session: 2)
        try await create(store, "a")
        #expect(try await store.call("watch", ["table": "t", "stop": true]) == ["version": 1])
        try await create(store, "b")
        store.store.sessionClosed(2, user: 1000)
        await store.settle()
        try await create(store, "c", session: 3)
        await store.settle()
        #expect(store.sink.sent(1) == ["1 create a"])
        #expect(store.sink.sent(2) == ["1 create a", "2 create b"])
        // Stopping a watch that was never started is not an error.
        try await store.call("watch", ["table": "never", "stop": true])
    }

    @Test("A session without watches ends without waking the commits lane")
    func endsUnseen() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": [:]], session: 1)
        try await store.call("watch", ["table": "t"], session: 2)
        // The lanes sleep, because a lane at work would need no wake-up.
        await store.settle()
        let before = store.wakeUps.value
        for session: SessionID in [1, 3] { store.store.sessionClosed(session, user: 1000) }
        #expect(store.wakeUps.value == before)
        store.store.sessionClosed(2, user: 1000)
        #expect(store.wakeUps.value == before + 1)
        await store.close()
    }

    @Test("since sends the last later change of each key in order, then live changes")
    func since() async throws {
        let store = try await TestStore()
        for key in ["known", "kept", "goes"] { try await create(store, key) }  // 1 to 3
        try await create(store, "new")  // 4
        try await update(store, "known")  // 5
        try await update(store, "new")  // 6
        try await delete(store, "goes")  // 7
        try await create(store, "short")  // 8
        try await delete(store, "short")  // 9
        try await create(store, "again")  // 10
        try await delete(store, "again")  // 11
        try await create(store, "again")  // 12
        #expect(try await store.call("watch", ["table": "t", "since": 3]) == ["version": 12])
        try await update(store, "kept")
        await store.settle()
        #expect(
            store.sink.sent() == [
                "5 update known", "6 create new", "7 delete goes", "9 delete short", "12 create again",
                "13 update kept",
            ])
    }

    @Test("since with the current version sends no past change, and since 0 sends every record")
    func edges() async throws {
        let store = try await TestStore()
        #expect(try await store.call("watch", ["table": "t", "since": 0], session: 9) == ["version": 0])
        try await create(store, "a")
        try await create(store, "b")
        try await store.call("watch", ["table": "t", "since": 2], session: 5)
        try await store.call("watch", ["table": "t", "since": 0], session: 6)
        await store.settle()
        #expect(store.sink.sent(5) == [])
        #expect(store.sink.sent(6) == ["1 create a", "2 create b"])
        #expect(store.sink.sent(9) == ["1 create a", "2 create b"])
    }

    @Test("A version that the namespace never had is refused with cursor.expired", arguments: [-1, 5])
    func outOfRange(_ since: Int) async throws {
        let store = try await TestStore()
        try await create(store, "a")
        let error = try await store.failure("watch", ["table": "t", "since": .number(JSONNumber(since))])
        #expect(error.code == "cursor.expired")
        #expect(error.data?["version"] == 1)
        try await create(store, "b")
        await store.settle()
        #expect(store.sink.sent() == [])
    }

    @Test("The oldest tombstones above the limit are removed, and an earlier since gets cursor.expired")
    func expiry() async throws {
        let store = try await TestStore(deletions: 3)
        for index in 0..<6 {
            try await create(store, "k\(index)")
            try await delete(store, "k\(index)")
        }
        // Deleted at 2, 4, 6, 8, 10 and 12; the last three are remembered.
        let error = try await store.failure("watch", ["table": "t", "since": 5])
        #expect(error.code == "cursor.expired")
        #expect(error.data == ["since": 5, "oldest": 6, "version": 12])
        try await store.call("watch", ["table": "t", "since": 6])
        await store.settle()
        #expect(store.sink.sent() == ["8 delete k3", "10 delete k4", "12 delete k5"])
    }

    @Test("A key that is created again does not count as a deletion")
    func recreatedKeysDoNotCount() async throws {
        let store = try await TestStore(deletions: 2)
        try await create(store, "a")
        for _ in 0..<5 {
            try await delete(store, "a")
            try await create(store, "a")
        }
        try await store.call("watch", ["table": "t", "since": 0])
        await store.settle()
        #expect(store.sink.sent() == ["11 create a"])
    }

    @Test("A second watch of the same table replaces the first")
    func again() async throws {
        let store = try await TestStore()
        try await store.call("watch", ["table": "t"])
        try await create(store, "a")
        try await store.call("watch", ["table": "t", "since": 0])
        try await create(store, "b")
        await store.settle()
        #expect(store.sink.sent() == ["1 create a", "1 create a", "2 create b"])
    }

    @Test("The number of tables that a session watches is limited")
    func bound() async throws {
        let store = try await TestStore()
        let requests = (0...Limits.watchesPerSession).map {
            TestStore.Request("watch", ["table": .string("t\($0)")])
        }
        let outcomes = await store.send(requests)
        for outcome in outcomes.dropLast() { #expect(throws: Never.self) { try outcome.get() } }
        let error = try #require(throws: BridgeError.self) { try outcomes.last?.get() }
        #expect(error.code == .quotaExceeded)
        #expect(
            error.data == [
                "quota": "watches", "limit": .number(JSONNumber(Limits.watchesPerSession)), "of": "session 1",
            ])
        // A table that the session watches already does not count again.
        try await store.call("watch", ["table": "t0"])
    }

    @Test("The tables that all sessions of a user watch are limited, too; ending a watch frees a slot")
    func boundOfUser() throws {
        let registry = WatchRegistry()
        func path(_ number: Int) -> TablePath {
            TablePath(namespace: Namespace(uid: 7, origin: "local"), table: ExactText("t\(number)"))
        }
        func watch(_ session: SessionID, _ number: Int, uid: UInt32 = 1000, isTrusted: Bool = false) throws {
            let watcher = Watcher(session: session, uid: uid, isTrusted: isTrusted)
            #expect(try registry.add(watcher, path(number), namesNamespace: true, since: nil) == nil)
        }
        let sessions = (1...Limits.watchesPerUser / Limits.watchesPerSession).map { SessionID($0) }
        for session in sessions {
            for number in 0..<Limits.watchesPerSession { try watch(session, number) }
        }
        let error = try #require(throws: BridgeError.self) { try watch(99, 0) }
        #expect(error.code == .quotaExceeded)
        #expect(
            error.data == ["quota": "watches", "limit": .number(JSONNumber(Limits.watchesPerUser)), "of": "uid 1000"])
        // The limit does not apply to other users, to root, or to a table that is watched already.
        try watch(100, 0, uid: 1001)
        try watch(101, 0, isTrusted: true)
        try watch(1, 0)
        registry.remove(101)
        registry.remove(1, path(5))
        registry.remove(1, path(5))
        try watch(99, 0)
        #expect(throws: BridgeError.self) { try watch(99, 1) }
        registry.remove(2)
        for number in 0..<Limits.watchesPerSession { try watch(98, number) }
        #expect(throws: BridgeError.self) { try watch(99, 1) }
        for session in Set(sessions).union([98, 99, 100]) { registry.remove(session) }
        #expect(registry.isEmpty)
    }
}
