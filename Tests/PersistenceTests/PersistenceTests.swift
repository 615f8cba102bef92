import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("The parts of the persistence plugin")
struct PersistenceTests {
    @Test(
        "A file name that is empty or leads outside the state directory is refused",
        arguments: ["", "/etc/passwd", "a/b", ".", "..", "nul\0"])
    func file(_ name: String) throws {
        let error = try #require(throws: BridgeError.self) { try PersistenceConfiguration(file: name).check() }
        #expect(error.code == .configurationInvalid)
        #expect(error.data?["path"] == "$.file")
    }

    @Test("The number of tombstones must be in its range", arguments: [-1, 1_000_000_001] as [Int64])
    func tombstones(_ count: Int64) throws {
        let error = try #require(throws: BridgeError.self) { try PersistenceConfiguration(tombstones: count).check() }
        #expect(error.data?["path"] == "$.tombstones")
        #expect(throws: Never.self) { try PersistenceConfiguration(file: "x.sqlite", tombstones: 0).check() }
    }

    @Test("Keys of one generator are sorted UUIDs of version 7, even if the clock is set back")
    func keys() throws {
        let now = Mutex<UInt64>(1_700_000_000_000)
        let generator = KeyGenerator { now.withLock { $0 } }
        var keys: [String] = []
        for round in 0..<6000 {
            keys.append(generator.next().text)
            if round == 5000 { now.withLock { $0 -= 10_000 } }
            if round % 1000 == 999 { now.withLock { $0 += 1 } }
        }
        #expect(keys == keys.sorted())
        #expect(Set(keys).count == keys.count)
        for key in keys {
            let characters = Array(key)
            #expect(characters.count == 36)
            #expect([8, 13, 18, 23].allSatisfy { characters[$0] == "-" })
            #expect(key.filter { $0 != "-" }.allSatisfy { "0123456789abcdef".contains($0) })
            #expect(key.count { $0 == "-" } == 4)
            #expect(characters[14] == "7")
            #expect("89ab".contains(characters[19]))
        }
        #expect(keys[0].hasPrefix("018bcfe5-6800-7"))
    }

    @Test("A namespace has exactly one text")
    func namespaces() {
        for text in ["0:local", "1000:https://a.example:8443", "4294967295::", "7:é"] {
            #expect(Namespace(parsing: text)?.text == text)
        }
        #expect(Namespace(parsing: "007:local") == nil, "it would be another text for 7:local")
        #expect(Namespace(parsing: "+1:local") == nil)
        #expect(Namespace(parsing: "1:" + String(repeating: "o", count: Limits.originBytes + 1)) == nil)
    }

    @Test("Names are compared by their bytes")
    func exactText() {
        #expect(ExactText("\u{e9}") != ExactText("e\u{301}"))
        #expect(ExactText("a\0b") != ExactText("a"))
    }

    @Test("Every schema names exactly the options that its task decodes")
    func schemas() throws {
        func properties(_ schema: JSON?) -> Set<String> {
            Set((schema?["properties"]?.objectValue ?? JSONObject()).map(\.key))
        }
        func required(_ schema: JSON?) -> Set<String> {
            Set((schema?["required"]?.arrayValue ?? []).compactMap(\.stringValue))
        }
        func compare<T: StoreTask>(_: T.Type) throws {
            let derived = try JSONSchema.derive(from: T.Request.self)
            #expect(properties(T.optionsSchema) == properties(derived), "\(T.name)")
            #expect(required(T.optionsSchema) == required(derived), "\(T.name)")
            #expect(T.resultSchema?["type"] == "object")
        }
        try compare(CreateTask.self)
        try compare(ReadTask.self)
        try compare(UpdateTask.self)
        try compare(DeleteTask.self)
        try compare(QueryTask.self)
        try compare(WatchTask.self)
        try compare(TransactionTask.self)
    }
}
