import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

extension WatchTests {
    @Test("A replay of several pages with live changes in between has no gaps and no duplicates")
    func replayWithChanges() async throws {
        let store = try await TestStore()
        var generator = SeededGenerator(seed: 11)
        var mirror = Model()
        let keys = (0..<2500).map { "k\($0)" }
        for start in stride(from: 0, to: keys.count, by: 500) {
            let operations = keys[start..<start + 500].map { key -> JSON in
                ["create": ["table": "t", "key": .string(key), "record": [:]]]
            }
            try await store.call("transaction", ["operations": .array(operations)], session: 2)
        }
        try await store.call("watch", ["table": "t", "since": 0])
        // Changes while the replay waits between its pages.
        for _ in 0..<4 {
            for _ in 0..<60 {
                let key = keys.randomElement(using: &generator) ?? "k0"
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: _ = try? await delete(store, key)
                case 1: _ = try? await create(store, key)
                default: _ = try? await update(store, key)
                }
            }
            _ = store.sink.handOver()
        }
        await store.settle()
        try await update(store, try #require(try await store.call("query", ["table": "t"]).keys.first))
        await store.settle()
        for one in store.sink.all { mirror.take(one.change) }
        #expect(mirror.complaints == [])
        let records = try await allRecords(store)
        #expect(mirror.versions == records)
        #expect(records.count > 1000)
    }

    private func allRecords(_ store: TestStore) async throws -> [String: Int64] {
        var records: [String: Int64] = [:]
        var options: JSONObject = ["table": "t", "limit": 1000]
        repeat {
            let page = try await store.call("query", .object(options))
            for record in page["records"]?.arrayValue ?? [] {
                records[record.key ?? ""] = record.version
            }
            options["cursor"] = page["cursor"]
        } while options["cursor"] != nil
        return records
    }

    /// The table as a client rebuilds it from the changes.
    private struct Model {
        var versions: [String: Int64] = [:]
        var last: Int64 = 0
        var complaints: [String] = []

        mutating func take(_ change: RecordChanged) {
            let name = "\(change.version) \(change.change.rawValue) \(change.key)"
            if change.version <= last { complaints.append("\(name) after \(last)") }
            last = change.version
            switch change.change {
            case .create, .update:
                versions[change.key] = change.version
            case .delete:
                versions[change.key] = nil
            }
        }
    }

    @Test("A namespace needs its deletions until its last replay has ended, in whatever way")
    func replayedNamespaces() throws {
        let registry = WatchRegistry()
        let sink = RecordingSink()
        let namespaces = [Namespace(uid: 1, origin: "local"), Namespace(uid: 2, origin: "local")]
        func begin(
            _ session: SessionID, _ table: String, in namespace: Int = 0, since: Int64? = 0
        ) throws -> WatchRegistry.ReplayID? {
            let path = TablePath(namespace: namespaces[namespace], table: ExactText(table))
            let watcher = Watcher(session: session, uid: 1, isTrusted: false)
            return try registry.add(watcher, path, namesNamespace: false, since: since)
        }
        func replaying() -> [Bool] { namespaces.map { registry.isReplaying($0) } }
        #expect(replaying() == [false, false])
        let first = try #require(try begin(1, "t"))
        _ = try begin(2, "t")
        _ = try begin(1, "u", in: 1)
        #expect(replaying() == [true, true])
        // The last page.
        registry.notify([], of: first, isLast: false, sink)
        registry.notify([], of: first, isLast: true, sink)
        registry.notify([], of: first, isLast: true, sink)
        #expect(replaying() == [true, true])
        // The end of the session.
        registry.remove(2)
        #expect(replaying() == [false, true])
        // A new watch in place of the replay, with or without another replay.
        _ = try begin(1, "u", in: 1)
        #expect(replaying() == [false, true])
        _ = try begin(1, "u", in: 1, since: nil)
        #expect(replaying() == [false, false])
        // The end of the watch, and of the table.
        let tables = ["t", "v"].map { TablePath(namespace: namespaces[0], table: ExactText($0)) }
        _ = try begin(3, "t")
        _ = try begin(3, "v")
        registry.remove(3, tables[0])
        #expect(replaying() == [true, false])
        registry.expire(tables[1], at: 5, sink)
        registry.expire(tables[1], at: 6, sink)
        #expect(replaying() == [false, false])
        for session in [1, 3] as [SessionID] { registry.remove(session) }
        #expect(registry.isEmpty)
    }

    @Test("During a replay, each key is reported as created once and as updated after that")
    func kindsDuringReplay() async throws {
        let registry = WatchRegistry()
        let sink = RecordingSink()
        let path = TablePath(namespace: Namespace(uid: 1, origin: "local"), table: ExactText("t"))
        let id = try #require(
            try registry.add(Watcher(session: 1, uid: 1, isTrusted: false), path, namesNamespace: false, since: 0))
        func live(_ key: String, _ version: Int64, _ kind: Change.Kind, previous: Int64) {
            registry.notify(
                [Change(path: path, key: ExactText(key), version: version, kind: kind, previousVersion: previous)],
                sink)
        }
        func page(_ entries: [(String, Int64, Int64?)], isLast: Bool = false) {
            registry.notify(
                entries.map { RecordStore.Missed(key: ExactText($0.0), version: $0.1, created: $0.2) }, of: id,
                isLast: isLast, sink)
        }
        page([("a", 1, 1), ("b", 2, 2)])
        live("a", 10, .update, previous: 1)  // already sent as created
        live("c", 11, .update, previous: 3)  // not sent yet
        live("b", 12, .delete, previous: 2)
        live("b", 13, .create, previous: 0)
        page([("d", 4, 4), ("a", 10, 1), ("c", 11, 3)])
        live("c", 14, .update, previous: 11)
        page([("b", 13, 13), ("c", 14, 3)], isLast: true)
        live("c", 15, .update, previous: 14)
        #expect(
            sink.sent() == [
                "1 create a", "2 create b", "4 create d", "10 update a", "11 create c", "13 create b", "14 update c",
                "15 update c",
            ])
        registry.remove(1)
        #expect(registry.isEmpty)
    }
}
