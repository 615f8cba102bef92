import GRDB
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("What a namespace may hold", .timeLimit(.minutes(20)))
struct StoreQuotaTests {
    private func create(
        _ store: TestStore, _ key: String, _ record: JSON = [:], uid: UInt32 = 1000, origin: String = "local"
    ) async throws -> ErrorCode? {
        let options: JSON = ["table": "t", "key": .string(key), "record": record]
        do {
            try await store.call("create", options, uid: uid, origin: origin)
            return nil
        } catch let error as BridgeError {
            return error.code
        }
    }

    @Test("One record too many is quota.exceeded, and is not there; others' namespaces are not concerned")
    func records() async throws {
        let store = try await TestStore(quota: StoreQuota(records: 2))
        #expect(try await create(store, "a") == nil)
        #expect(try await create(store, "b") == nil)
        let error = try await store.failure("create", ["table": "u", "key": "c", "record": [:]])
        #expect(error.code == .quotaExceeded && !error.isTransient)
        #expect(error.data == ["quota": "records", "limit": 2, "of": "uid 1000 in local"])
        #expect(try await store.failure("read", ["table": "u", "key": "c"]).code == "record.not_found")
        #expect(try await create(store, "c", origin: "https://a.example") == nil)
        #expect(try await create(store, "c", uid: 1001) == nil)
        // There is one already: that is what is said.
        #expect(try await create(store, "a") == "record.exists")
        try await store.call("delete", ["table": "t", "key": "a"])
        #expect(try await create(store, "d") == nil)
        #expect(try await create(store, "e") == .quotaExceeded)
    }

    @Test("Bytes are those of keys and texts; a record may shrink, and be replaced, where it may not grow")
    func bytes() async throws {
        // {"x":"…"} has eight bytes around its text.
        let store = try await TestStore(quota: StoreQuota(bytes: 100))
        func record(_ count: Int) -> JSON { ["x": .string(String(repeating: "y", count: count))] }
        #expect(try await create(store, "a", record(41)) == nil)
        #expect(try await create(store, "b", record(41)) == nil)
        #expect(try await create(store, "c") == .quotaExceeded)
        let larger = try await store.failure("update", ["table": "t", "key": "a", "record": record(42)])
        #expect(larger.data == ["quota": "stored_bytes", "limit": 100, "of": "uid 1000 in local"])
        try await store.call("update", ["table": "t", "key": "a", "record": record(38)])
        #expect(try await create(store, "c") == nil)
        #expect(try await create(store, "d") == .quotaExceeded)
    }

    @Test("What a transaction undoes does not count")
    func undone() async throws {
        let store = try await TestStore(quota: StoreQuota(records: 2))
        let operations: JSON = [
            ["create": ["table": "t", "key": "a", "record": [:]]],
            ["create": ["table": "t", "key": "b", "record": [:]]],
            ["create": ["table": "t", "key": "c", "record": [:]]],
        ]
        for _ in 0..<3 {
            #expect(try await store.failure("transaction", ["operations": operations]).code == .quotaExceeded)
        }
        #expect(try await create(store, "a") == nil)
        #expect(try await create(store, "b") == nil)
        #expect(try await create(store, "c") == .quotaExceeded)
    }

    @Test("What was stored before there was a quota is counted when the store is opened")
    func existing() async throws {
        let directory = try TestStore.makeDirectory()
        let path = directory + "/records.sqlite"
        let queue = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(queue, upTo: "records")
        try await queue.write {
            try $0.execute(
                sql: """
                    INSERT INTO namespace (id, uid, origin, version) VALUES (1, 1000, CAST('local' AS BLOB), 2);
                    INSERT INTO collection (id, namespace, name) VALUES (1, 1, CAST('t' AS BLOB));
                    INSERT INTO record (collection, key, version, created, body)
                    VALUES (1, CAST('a' AS BLOB), 1, 1, '{}'), (1, CAST('b' AS BLOB), 2, 2, '{"x":"ä"}');
                    """)
        }
        try queue.close()
        let store = try await TestStore(directory: directory, quota: StoreQuota(records: 3, bytes: 17))
        #expect(try await create(store, "c", [:]) == nil)
        #expect(try await create(store, "d", [:]) == .quotaExceeded)
        try await store.call("delete", ["table": "t", "key": "c"])
        let tooLong = try await store.failure("create", ["table": "t", "key": "ccc", "record": [:]])
        #expect(tooLong.data?["quota"] == "stored_bytes")
    }
}
