import GRDB
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("The quota of a namespace", .timeLimit(.minutes(20)))
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

    @Test("A record above the limit fails with quota.exceeded and is not stored; other namespaces are not affected")
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
        // The record exists already: this error takes precedence.
        #expect(try await create(store, "a") == "record.exists")
        try await store.call("delete", ["table": "t", "key": "a"])
        #expect(try await create(store, "d") == nil)
        #expect(try await create(store, "e") == .quotaExceeded)
    }

    @Test("Keys and record texts count as bytes; a record may shrink when it may not grow")
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

    @Test("Writes that a transaction rolls back do not count")
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

    @Test("Records stored before there was a quota are counted when the store is opened")
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
