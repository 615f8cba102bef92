import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Exports", .timeLimit(.minutes(20)))
struct ExportTests {
    private func filled() async throws -> TestStore {
        let store = try await TestStore()
        for (uid, table, key) in [
            (1000, "u", "a"), (1000, "t", "b"), (1000, "t", "a"), (7, "t", "é\n\"x\""), (65_534, "t", "z"),
        ] as [(UInt32, String, String)] {
            try await store.create(key, table: table, ["price": try .text("1.50")], uid: uid)
        }
        return store
    }

    @Test("An export has a header, a line per record ordered by namespace, table and key, and the record count")
    func lines() async throws {
        let store = try await filled()
        #expect(
            try await store.export() == #"""
                {"trestle":"export","version":1}
                {"namespace":"7:local","table":"t","key":"é\n\"x\"","version":1,"record":{"price":1.50}}
                {"namespace":"1000:local","table":"t","key":"a","version":3,"record":{"price":1.50}}
                {"namespace":"1000:local","table":"t","key":"b","version":2,"record":{"price":1.50}}
                {"namespace":"1000:local","table":"u","key":"a","version":1,"record":{"price":1.50}}
                {"namespace":"65534:local","table":"t","key":"z","version":1,"record":{"price":1.50}}
                {"trestle":"end","records":5}

                """#)
    }

    @Test("An empty store can be exported and imported")
    func empty() async throws {
        let store = try await TestStore()
        #expect(
            try await store.export() == """
                {"trestle":"export","version":1}
                {"trestle":"end","records":0}

                """)
        #expect(try await store.importLines(store.export()) == Import.Outcome())
    }

    @Test("An export can be limited to a namespace, to a table name, or to both")
    func filters() async throws {
        let store = try await filled()
        let count = { (text: String) in text.split(separator: "\n").count - 2 }
        #expect(count(try await store.export(namespace: "1000:local")) == 3)
        #expect(count(try await store.export(table: "t")) == 4)
        #expect(count(try await store.export(namespace: "1000:local", table: "t")) == 2)
        #expect(count(try await store.export(namespace: "1:local")) == 0)
        for body: () throws -> Selection in [
            { try Selection(namespace: "local", table: nil) }, { try Selection(namespace: nil, table: "") },
        ] {
            #expect(try #require(throws: BridgeError.self) { try body() }.code == .optionsInvalid)
        }
    }

    @Test("An export shows one moment, waits for no lane, and is complete even if it is longer than a part")
    func large() async throws {
        let store = try await TestStore()
        let text = JSON.string(String(repeating: "x", count: 1000))
        _ = await store.send(
            (0..<700).map { .init("create", ["table": "t", "key": .string("k\($0)"), "record": ["text": text]]) })
        let release = await store.holdAll()
        let lines = try await store.export().split(separator: "\n")
        release()
        #expect(lines.count == 702)
        #expect(lines.last == #"{"trestle":"end","records":700}"#)
        #expect(try lines.allSatisfy { try JSON(parsing: String($0)).objectValue != nil })
    }
}
