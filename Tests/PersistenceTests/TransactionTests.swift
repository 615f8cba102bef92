import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Transactions", .timeLimit(.minutes(20)))
struct TransactionTests {
    @Test("The operations take effect in order, each with its own version")
    func inOrder() async throws {
        let store = try await TestStore()
        let result = try await store.call(
            "transaction",
            [
                "operations": [
                    ["create": ["table": "t", "key": "a", "record": ["n": 1]]],
                    ["update": ["table": "t", "key": "a", "patch": ["m": 2]]],
                    ["create": ["table": "u", "key": "b", "record": [:]]],
                    ["delete": ["table": "u", "key": "b", "ifVersion": 3]],
                ]
            ])
        #expect(
            result == [
                "results": [
                    ["key": "a", "version": 1], ["key": "a", "version": 2], ["key": "b", "version": 3],
                    ["key": "b", "version": 4],
                ]
            ])
        #expect(try await store.call("read", ["table": "t", "key": "a"])["record"] == ["n": 1, "m": 2])
        #expect(try await store.call("query", ["table": "u"]).keys == [])
    }

    @Test("A commit whose calls all failed writes nothing, and keeps no table that one of them created")
    func nothingDone() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": [:]])
        let before = StoreFile(path: store.path).logBytes
        for _ in 0..<2 {
            let error = try await store.failure(
                "transaction",
                [
                    "operations": [
                        ["create": ["table": "new", "key": "a", "record": [:]]],
                        ["create": ["table": "t", "key": "a", "record": [:]]],
                    ]
                ])
            #expect(error.code == .recordExists)
        }
        #expect(StoreFile(path: store.path).logBytes == before)
        try await store.call("create", ["table": "new", "key": "b", "record": [:]])
        #expect(try await store.call("query", ["table": "new"]).keys == ["b"])
        #expect(try await store.call("read", ["table": "t", "key": "a"]).version == 1)
    }

    @Test("If one operation fails, none takes effect, and the error names it")
    func atomic() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "old", "record": ["n": 1]])
        let error = try await store.failure(
            "transaction",
            [
                "operations": [
                    ["create": ["table": "t", "key": "new", "record": [:]]],
                    ["delete": ["table": "t", "key": "old"]],
                    ["update": ["table": "t", "key": "missing", "patch": [:]]],
                ]
            ])
        #expect(error.code == "record.not_found")
        #expect(error.data == ["key": "missing", "index": 2, "path": "$.operations[2]"])
        #expect(try await store.call("query", ["table": "t"]).keys == ["old"])
        #expect(try await store.call("read", ["table": "t", "key": "old"]).version == 1)
    }

    @Test("A failed transaction sends nothing to watches")
    func noEvents() async throws {
        let store = try await TestStore()
        try await store.call("watch", ["table": "t"])
        let create: JSON = ["create": ["table": "t", "key": "a", "record": [:]]]
        _ = try await store.failure("transaction", ["operations": [create, create]])
        await store.settle()
        #expect(store.sink.sent() == [])
        try await store.call("transaction", ["operations": [create]])
        await store.settle()
        #expect(store.sink.sent().count == 1)
    }

    @Test(
        "Invalid operations are refused with their path",
        arguments: [
            (#"{}"#, "$.operations[1]"),
            (#"{"create":{"table":"t","record":{}},"delete":{"table":"t","key":"a"}}"#, "$.operations[1]"),
            (#"{"create":{"table":"t","record":1}}"#, "$.operations[1].create.record"),
            (#"{"create":{"table":"t","record":{},"namespace":"1:local"}}"#, "$.operations[1].create.namespace"),
            (#"{"update":{"table":"t","key":"a"}}"#, "$.operations[1].update"),
            (#"{"delete":{"table":"t","key":""}}"#, "$.operations[1].delete.key"),
            (#"{"delete":{"table":"t","key":1}}"#, "$.operations[1].delete.key"),
            (#"{"upsert":{}}"#, "$.operations[1].upsert"),
        ])
    func badOperations(_ operation: String, _ path: String) async throws {
        let store = try await TestStore()
        let good: JSON = ["create": ["table": "t", "record": [:]]]
        let error = try await store.failure("transaction", ["operations": [good, try JSON(parsing: operation)]])
        #expect(error.code == .optionsInvalid)
        #expect(error.data?["path"]?.stringValue == path)
        #expect(try await store.call("query", ["table": "t"]).keys == [])
    }

    @Test("An empty transaction does nothing, and one with more than 1000 operations is refused")
    func count() async throws {
        let store = try await TestStore()
        #expect(try await store.call("transaction", ["operations": []]) == ["results": []])
        let create: JSON = ["create": ["table": "t", "record": [:]]]
        let many = JSON.array(Array(repeating: create, count: Limits.operations))
        #expect(try await store.call("transaction", ["operations": many])["results"]?.arrayValue?.count == 1000)
        let tooMany = JSON.array(Array(repeating: create, count: Limits.operations + 1))
        #expect(try await store.failure("transaction", ["operations": tooMany]).data?["path"] == "$.operations")
    }

    @Test("A trusted caller names one namespace for the whole transaction")
    func namespace() async throws {
        let store = try await TestStore()
        try await store.call(
            "transaction",
            ["namespace": "1000:local", "operations": [["create": ["table": "t", "key": "a", "record": [:]]]]],
            uid: 0, isTrusted: true)
        #expect(try await store.call("read", ["table": "t", "key": "a"], uid: 1000).version == 1)
    }
}
