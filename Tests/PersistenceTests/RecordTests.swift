import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Records: create, read, update, delete", .timeLimit(.minutes(20)))
struct RecordTests {
    @Test("A record is read as it was created, and versions increase")
    func roundTrip() async throws {
        let store = try await TestStore()
        let first = try await store.call("create", ["table": "t", "key": "a", "record": ["x": 1]])
        #expect(first == ["key": "a", "version": 1])
        let second = try await store.call("create", ["table": "t", "key": "b", "record": ["x": 2]])
        #expect(second == ["key": "b", "version": 2])
        let read = try await store.call("read", ["table": "t", "key": "a"])
        #expect(read == ["key": "a", "version": 1, "record": ["x": 1]])
    }

    @Test("Without a key, one is generated; generated keys are sorted by creation")
    func madeKeys() async throws {
        let store = try await TestStore()
        var keys: [String] = []
        for _ in 0..<20 {
            let made = try await store.call("create", ["table": "t", "record": [:]])
            keys.append(try #require(made.key))
        }
        #expect(keys == keys.sorted())
        #expect(Set(keys).count == 20)
        #expect(try await store.call("query", ["table": "t"]).keys == keys)
    }

    @Test("Creating an existing key is refused with its version")
    func createExisting() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": [:]])
        let error = try await store.failure("create", ["table": "t", "key": "a", "record": ["new": true]])
        #expect(error.code == "record.exists")
        #expect(error.data == ["key": "a", "version": 1])
        #expect(try await store.call("read", ["table": "t", "key": "a"])["record"] == [:])
    }

    @Test(
        "Reading, updating and deleting a missing record fail with record.not_found",
        arguments: ["read", "update", "delete"])
    func notFound(_ task: String) async throws {
        let store = try await TestStore()
        var options: JSONObject = ["table": "t", "key": "a"]
        if task == "update" { options["record"] = [:] }
        for _ in 0..<2 {
            let error = try await store.failure(task, .object(options))
            #expect(error.code == "record.not_found")
            #expect(error.data?["key"] == "a")
            // Repeats this when the table exists.
            try await store.call("create", ["table": "t", "record": [:]])
        }
    }

    @Test("An update replaces the whole record")
    func updateWhole() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": ["x": 1, "y": 2]])
        let update = try await store.call("update", ["table": "t", "key": "a", "record": ["z": 3]])
        #expect(update == ["key": "a", "version": 2])
        #expect(try await store.call("read", ["table": "t", "key": "a"])["record"] == ["z": 3])
    }

    @Test("A patch changes the members that it contains, and keeps the number texts of the others")
    func updatePatch() async throws {
        let store = try await TestStore()
        let record = try JSON(parsing: #"{"big":12345678901234567890,"x":1.50,"y":{"a":1,"b":2}}"#)
        try await store.call("create", ["table": "t", "key": "a", "record": record])
        try await store.call("update", ["table": "t", "key": "a", "patch": ["y": ["b": nil, "c": 3], "n": 1]])
        let read = try await store.call("read", ["table": "t", "key": "a"])
        #expect(read["record"]?.text == #"{"big":12345678901234567890,"x":1.50,"y":{"a":1,"c":3},"n":1}"#)
    }

    @Test("With ifVersion, only the expected version is changed", arguments: ["update", "delete"])
    func ifVersion(_ task: String) async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": [:]])
        try await store.call("update", ["table": "t", "key": "a", "record": ["n": 1]])
        var options: JSONObject = ["table": "t", "key": "a", "ifVersion": 1]
        if task == "update" { options["patch"] = ["n": 2] }
        let error = try await store.failure(task, .object(options))
        #expect(error.code == "record.conflict")
        #expect(error.data == ["key": "a", "version": 2])
        #expect(try await store.call("read", ["table": "t", "key": "a"])["record"] == ["n": 1])
        options["ifVersion"] = 2
        #expect(try await store.call(task, .object(options)).version == 3)
    }

    @Test("A deletion increases the version, and the key can be created again")
    func deleteAndCreate() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": ["n": 1]])
        #expect(try await store.call("delete", ["table": "t", "key": "a"]) == ["key": "a", "version": 2])
        #expect(try await store.failure("read", ["table": "t", "key": "a"]).code == "record.not_found")
        #expect(try await store.call("create", ["table": "t", "key": "a", "record": ["n": 2]]).version == 3)
        #expect(try await store.call("read", ["table": "t", "key": "a"])["record"] == ["n": 2])
    }

    @Test("Versions are one sequence over all tables of a namespace, and each namespace has its own")
    func versions() async throws {
        let store = try await TestStore()
        func create(_ table: JSON, _ uid: UInt32, _ origin: String) async throws -> Int64? {
            try await store.call("create", ["table": table, "record": [:]], uid: uid, origin: origin).version
        }
        #expect(try await create("t", 1000, "local") == 1)
        #expect(try await create("u", 1000, "local") == 2)
        #expect(try await create("t", 1001, "local") == 1)
        #expect(try await create("t", 1000, "https://a.example") == 1)
        #expect(try await create("t", 1000, "local") == 3)
    }

    @Test("A namespace's records are invisible in other namespaces")
    func namespaces() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": ["of": 1000]], uid: 1000)
        try await store.call("create", ["table": "t", "key": "a", "record": ["of": 1001]], uid: 1001)
        #expect(try await store.call("read", ["table": "t", "key": "a"], uid: 1001)["record"] == ["of": 1001])
        let other = try await store.failure("read", ["table": "t", "key": "a"], origin: "https://a.example")
        #expect(other.code == "record.not_found")
        #expect(try await store.call("query", ["table": "t"], uid: 1002).keys == [])
    }

    @Test("The option namespace is used for any caller; its permission is checked before")
    func namedNamespace() async throws {
        let store = try await TestStore()
        let origin = "https://a.example:8443"
        try await store.call("create", ["table": "t", "key": "a", "record": [:]], uid: 1000, origin: origin)
        let options: JSON = ["table": "t", "key": "a", "namespace": "1000:https://a.example:8443"]
        for uid in [0, 1000, 1001] as [UInt32] {
            #expect(try await store.call("read", options, uid: uid).key == "a")
        }
    }

    @Test(
        "An invalid namespace is refused",
        arguments: [
            "", "local", "x:local", "1000:", "-1:local", "4294967296:local", ":local", "01000:local", "00:local",
        ])
    func badNamespace(_ name: String) async throws {
        let store = try await TestStore()
        let error = try await store.failure(
            "query", ["table": "t", "namespace": .string(name)], uid: 0, isTrusted: true)
        #expect(error.code == .optionsInvalid)
        #expect(error.data?["path"] == "$.namespace")
    }

    @Test("Tables, keys and records of any text are returned byte for byte")
    func oddTexts() async throws {
        let store = try await TestStore()
        let texts = [
            "'; DROP TABLE record; --", "\"quoted\"", "[bracketed]", "%_*?", "nul\0inside", "nul\0other", "\0",
            "e\u{301}", "\u{e9}", "😀", "\u{202e}right to left", "\n\t\\", "\u{7f}", "\u{feff}", "\u{ffff}", "record",
        ]
        for (index, text) in texts.enumerated() {
            let record: JSON = [text: .string(text), "index": .number(JSONNumber(index))]
            try await store.call("create", ["table": .string(text), "key": .string(text), "record": record])
        }
        for (index, text) in texts.enumerated() {
            let read = try await store.call("read", ["table": .string(text), "key": .string(text)])
            #expect(Array(read.key?.utf8 ?? "".utf8) == Array(text.utf8))
            #expect(read["record"]?["index"]?.int64Value == Int64(index))
            #expect(Array((read["record"]?[text]?.stringValue ?? "").utf8) == Array(text.utf8))
            let page = try await store.call("query", ["table": .string(text)])
            #expect(page["records"]?.arrayValue?.count == 1)
        }
    }

    @Test("The text of a number is preserved, whatever its size")
    func numberTexts() async throws {
        let store = try await TestStore()
        let text = #"{"a":1e400,"b":-0,"c":123456789012345678901234567890,"d":1.000,"e":5E-7,"f":0.1}"#
        try await store.call("create", ["table": "t", "key": "a", "record": try JSON(parsing: text)])
        #expect(try await store.call("read", ["table": "t", "key": "a"])["record"]?.text == text)
    }

    @Test(
        "Invalid options are refused with their path",
        arguments: [
            ("create", #"{"table":"t","record":[]}"#, "$.record"),
            ("create", #"{"table":"t","record":null}"#, "$.record"),
            ("create", #"{"table":"t"}"#, "$.record"),
            ("create", #"{"record":{}}"#, "$.table"),
            ("create", #"{"table":"","record":{}}"#, "$.table"),
            ("create", #"{"table":"t","key":"","record":{}}"#, "$.key"),
            ("create", #"{"table":"t","key":7,"record":{}}"#, "$.key"),
            ("create", #"{"table":"t","record":{},"ifVersion":1}"#, "$.ifVersion"),
            ("read", #"{"table":"t"}"#, "$.key"),
            ("read", #"[]"#, "$"),
            ("update", #"{"table":"t","key":"a"}"#, "$"),
            ("update", #"{"table":"t","key":"a","record":{},"patch":{}}"#, "$"),
            ("update", #"{"table":"t","key":"a","record":1}"#, "$.record"),
            ("update", #"{"table":"t","key":"a","patch":[]}"#, "$.patch"),
            ("update", #"{"table":"t","key":"a","patch":{},"ifVersion":"1"}"#, "$.ifVersion"),
            ("delete", #"{"table":"t","key":"a","ifversion":1}"#, "$.ifversion"),
            ("query", #"{"table":"t","limit":0}"#, "$.limit"),
            ("query", #"{"table":"t","limit":1001}"#, "$.limit"),
            ("query", #"{"table":"t","cursor":"x"}"#, "$.cursor"),
            ("query", #"{"table":"t","where":1}"#, "$.where"),
            ("query", #"{"table":"t","wehre":{}}"#, "$.wehre"),
            ("watch", #"{"table":"t","stop":true,"since":0}"#, "$.since"),
            ("transaction", #"{"operations":{}}"#, "$.operations"),
        ])
    func badOptions(_ task: String, _ options: String, _ path: String) async throws {
        let store = try await TestStore()
        let error = try await store.failure(task, try JSON(parsing: options))
        #expect(error.code == .optionsInvalid)
        #expect(error.data?["path"]?.stringValue == path)
    }

    @Test("Keys, table names and records have maximum sizes")
    func bounds() async throws {
        let store = try await TestStore()
        func text(_ count: Int) -> JSON { .string(String(repeating: "k", count: count)) }
        try await store.call("create", ["table": text(256), "key": text(1024), "record": [:]])
        let key = try await store.failure("create", ["table": "t", "key": text(1025), "record": [:]])
        #expect(key.data?["path"] == "$.key")
        let table = try await store.failure("create", ["table": text(257), "record": [:]])
        #expect(table.data?["path"] == "$.table")
        let largest = Limits.recordBytes - #"{"x":""}"#.utf8.count
        try await store.call("create", ["table": "t", "key": "big", "record": ["x": text(largest)]])
        let record = try await store.failure("create", ["table": "t", "record": ["x": text(largest + 1)]])
        #expect(record.data?["path"] == "$.record")
        // A small patch must not make the record exceed its maximum size.
        let patch = try await store.failure("update", ["table": "t", "key": "big", "patch": ["y": 1]])
        #expect(patch.data?["path"] == "$.patch")
        #expect(try await store.call("read", ["table": "t", "key": "big"]).version == 2)
    }
}
