import GRDB
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("The limit on bytes that one call reads and writes for changes", .timeLimit(.minutes(20)))
struct TouchedBytesTests {
    private typealias Request = TestStore.Request

    /// A record of a million bytes.
    private let large: JSON = ["text": .string(String(repeating: "x", count: 1_000_000))]

    private func patches(_ count: Int) -> [JSON] {
        (0..<count).map { ["update": ["table": "t", "key": "large", "patch": ["n": .number(JSONNumber($0))]]] }
    }

    @Test("A transaction of patches that touches more than 16 MiB is refused and rolled back")
    func patched() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "large", "record": large])
        let new: JSON = ["create": ["table": "t", "key": "new", "record": [:]]]
        let error = try await store.failure("transaction", ["operations": .array([new] + patches(1000 - 1))])
        #expect(error.code == "transaction.too_large")
        #expect(error.message.hasPrefix("operation 9: one call reads and writes at most 16777216 bytes"))
        #expect(error.data?["limit"] == 16_777_216)
        #expect(error.data?["index"] == 9)
        #expect(!error.isTransient)
        #expect(try await store.call("read", ["table": "t", "key": "large"]).version == 1)
        #expect(try await store.call("query", ["table": "t", "limit": 2]).keys == ["large"])
        #expect(try await store.failure("read", ["table": "t", "key": "new"]).code == .recordNotFound)
        // The versions that it used are assigned again.
        #expect(try await store.call("transaction", ["operations": .array(patches(8))])["results"]?[7]?.version == 9)
    }

    @Test("The limit applies to each call of a commit separately")
    func together() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "large", "record": large])
        let outcomes = await store.send(
            (0..<3).map { Request("transaction", ["operations": .array(patches(8))], session: SessionID($0)) })
        for outcome in outcomes { #expect(throws: Never.self) { try outcome.get() } }
    }

    @Test("Deletions and replacements of large records count towards the limit")
    func removed() async throws {
        let store = try await TestStore()
        for number in 0..<20 {
            try await store.call("create", ["table": "t", "key": .string("k\(number)"), "record": large])
        }
        let deletions = (0..<20).map { number -> JSON in ["delete": ["table": "t", "key": .string("k\(number)")]] }
        let replacements = (0..<20).map { number -> JSON in
            ["update": ["table": "t", "key": .string("k\(number)"), "record": [:]]]
        }
        for operations in [deletions, replacements] {
            let error = try await store.failure("transaction", ["operations": .array(operations)])
            #expect(error.code == "transaction.too_large")
            #expect(error.data?["index"] == 16)
            try await store.call("transaction", ["operations": .array(Array(operations.prefix(10)))])
            try await store.call("transaction", ["operations": .array(Array(operations.suffix(10)))])
            if operations == deletions {
                for number in 0..<20 {
                    try await store.call("create", ["table": "t", "key": .string("k\(number)"), "record": large])
                }
            }
        }
    }

    @Test("An import that replaces large records splits them over several commits")
    func imported() async throws {
        let store = try await TestStore()
        for number in 0..<20 {
            try await store.call("create", ["table": "t", "key": .string("k\(number)"), "record": large])
        }
        let lines = (0..<20).map { #"{"namespace":"1000:local","table":"t","key":"k\#($0)","record":{"n":\#($0)}}"# }
        let text = [#"{"trestle":"export","version":1}"#] + lines + [#"{"trestle":"end","records":20}"#]
        let outcome = try await store.importLines(text.joined(separator: "\n"), .replace)
        #expect(outcome == Import.Outcome(records: 20, replaced: 20))
        #expect(try await store.call("read", ["table": "t", "key": "k19"])["record"] == ["n": 19])
    }

    @Test("A transaction with several deletions removes at most one thousand surplus tombstones")
    func forgotten() async throws {
        let directory = try TestStore.makeDirectory()
        let before = try await TestStore(directory: directory, deletions: 10_000)
        let path = TablePath(namespace: Namespace(uid: 1000, origin: "local"), table: ExactText("t"))
        try await before.work { access in
            for number in 0..<3005 {
                _ = try access.records.create(ExactText("k\(number)"), Array("{}".utf8), in: path)
            }
            for number in 0..<3000 { _ = try access.records.delete(ExactText("k\(number)"), in: path, ifVersion: nil) }
        }
        await before.close()
        let store = try await TestStore(directory: directory, deletions: 10)
        let deletions = (3000..<3005).map { number -> JSON in ["delete": ["table": "t", "key": .string("k\(number)")]] }
        try await store.call("transaction", ["operations": .array(deletions)])
        await store.close()
        let rest = try withDatabase(store.path) { try Int.fetchOne($0, sql: "SELECT count(*) FROM deletion") }
        #expect(rest == 3005 - 1000 - 4)
    }
}
