import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Watches that are handed over to the next daemon", .timeLimit(.minutes(20)))
struct WatchHandoverTests {
    private func create(_ store: TestStore, _ key: String, table: String = "t") async throws {
        try await store.call("create", ["table": .string(table), "key": .string(key), "record": [:]], session: 2)
    }

    /// Returns the watches as the next daemon decodes them.
    private func kept(_ store: TestStore, _ sessions: [SessionID]) async throws -> [SessionID: [SavedWatch]] {
        try await store.store.keepWatches(of: sessions).mapValues { watches in
            try JSONCoding.decode([SavedWatch].self, from: JSONCoding.json(watches))
        }
    }

    @Test("get each change once, including those committed between the two daemons")
    func between() async throws {
        let old = try await TestStore()
        try await create(old, "before")
        try await old.call("watch", ["table": "t"])
        try await old.call("watch", ["table": "u", "namespace": "7:page"], session: 5, uid: 0, isTrusted: true)
        try await create(old, "sent")
        await old.settle()
        let watches = try await kept(old, [1, 5, 6])
        #expect(Set(watches.keys) == [1, 5])
        await old.close()
        let middle = try await TestStore(directory: old.directory)
        try await create(middle, "between")
        await middle.close()

        let new = try await TestStore(directory: old.directory)
        #expect(try await new.store.restoreWatches(watches) == [])
        await new.settle()
        try await create(new, "after")
        try await new.call("create", ["table": "u", "key": "x", "record": [:]], session: 6, uid: 7, origin: "page")
        await new.settle()
        #expect(old.sink.sent(1) == ["2 create sent"])
        #expect(new.sink.sent(1) == ["3 create between", "4 create after"])
        #expect(new.sink.sent(5) == ["1 create x"])
        #expect(new.sink.all.first { $0.session == 5 }?.change.namespace == "7:page")
    }

    @Test("end with their sessions in the next daemon")
    func ends() async throws {
        let old = try await TestStore()
        try await old.call("watch", ["table": "t"])
        let watches = try await kept(old, [1])
        await old.close()
        let new = try await TestStore(directory: old.directory)
        #expect(try await new.store.restoreWatches(watches) == [])
        new.store.sessionClosed(1, user: 1000)
        try await create(new, "after")
        await new.settle()
        #expect(new.sink.sent(1) == [])
    }

    @Test("continue a replay at its position")
    func replay() async throws {
        let old = try await TestStore()
        for number in 0..<3 { try await create(old, "k\(number)") }
        let namespace = Namespace(uid: 1000, origin: "local")
        let path = TablePath(namespace: namespace, table: ExactText("t"))
        // A replay that has sent only the first change.
        try await old.work { access in
            let begun = try access.watches.begin(
                Watcher(session: 1, uid: 1000, isTrusted: false), path, namesNamespace: false, since: 0,
                access.records)
            let missed = try access.records.missed(after: 0, in: path, limit: 1)
            access.watches.notify(missed, of: begun.replay!, isLast: false, access.sink)  // `!`: `since` was given
        }
        let watches = try await kept(old, [1])
        #expect(watches[1]?.map(\.since) == [1])
        await old.close()
        let new = try await TestStore(directory: old.directory)
        #expect(try await new.store.restoreWatches(watches) == [])
        await new.settle()
        #expect(new.sink.sent(1) == ["2 create k1", "3 create k2"])
    }

    @Test("end their session if they cannot continue because tombstones were removed; other sessions continue")
    func expired() async throws {
        let old = try await TestStore(deletions: 1)
        for key in ["a", "b", "c"] { try await create(old, key) }
        try await old.call("watch", ["table": "t"])
        try await old.call("watch", ["table": "t"], session: 3)
        var watches = try await kept(old, [1, 3])
        for key in ["a", "b", "c"] { try await old.call("delete", ["table": "t", "key": .string(key)], session: 2) }
        // As if this watch had received the deletions.
        watches[3]?[0].since = 6
        await old.close()
        let new = try await TestStore(directory: old.directory, deletions: 1)
        #expect(try await new.store.restoreWatches(watches) == [1])
        try await create(new, "d")
        await new.settle()
        #expect(new.sink.sent(1) == [])
        #expect(new.sink.sent(3) == ["7 create d"])
    }
}
