import DiskTestSupport
import Synchronization
import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("Imports", .timeLimit(.minutes(20)))
struct ImportTests {
    private static let header = #"{"trestle":"export","version":1}"#

    private func line(_ key: String, table: String = "t", record: String = "{}") -> String {
        #"{"namespace":"1000:local","table":"\#(table)","key":"\#(key)","version":1,"record":\#(record)}"#
    }

    private func file(_ lines: [String]) -> String {
        ([Self.header] + lines + [#"{"trestle":"end","records":\#(lines.count)}"#]).joined(separator: "\n") + "\n"
    }

    @Test("Exported records are imported with every digit and with new versions")
    func roundTrip() async throws {
        let source = try await TestStore()
        for (key, uid) in [("a", 1000), ("é\n\"", 7), ("c", 1000)] as [(String, UInt32)] {
            try await source.create(key, ["n": try .text("123456789012345678901234567890.10")], uid: uid)
        }
        try await source.call("delete", ["table": "t", "key": "a"])
        let store = try await TestStore()
        let outcome = try await store.importLines(try await source.export())
        #expect(outcome == Import.Outcome(records: 2, created: 2))
        let read = try await store.call("read", ["table": "t", "key": "c"])
        #expect(read.text == #"{"key":"c","version":1,"record":{"n":123456789012345678901234567890.10}}"#)
        #expect(try await store.call("read", ["table": "t", "key": "é\n\""], uid: 7).version == 1)
    }

    @Test("A record whose key exists fails the import, is skipped or is replaced; a dry run only reports it")
    func ifExists() async throws {
        let store = try await TestStore()
        try await store.create("b", ["old": true])
        let text = file(["a", "b", "c"].map { line($0, record: #"{"new":true}"#) })
        for isDryRun in [true, false] {
            let error = try await store.failure { try await store.importLines(text, isDryRun: isDryRun) }
            #expect(error.code == "record.exists")
            #expect(error.data?["line"] == 3)
            #expect(error.data?["key"] == "b")
        }
        #expect(try await store.keys() == ["b"])
        let replacing = Import.Outcome(records: 3, created: 2, replaced: 1)
        #expect(try await store.importLines(text, .replace, isDryRun: true) == replacing)
        let skipping = Import.Outcome(records: 3, created: 2, skipped: 1)
        #expect(try await store.importLines(text, .skip, isDryRun: true) == skipping)
        #expect(try await store.keys() == ["b"])
        #expect(try await store.importLines(text, .skip) == skipping)
        #expect(try await store.call("read", ["table": "t", "key": "b"])["record"] == ["old": true])
        #expect(try await store.importLines(text, .replace) == Import.Outcome(records: 3, replaced: 3))
        #expect(try await store.call("read", ["table": "t", "key": "b"])["record"] == ["new": true])
    }

    @Test("Only records of the requested table and namespace are stored")
    func filters() async throws {
        let store = try await TestStore()
        let text = file([line("a"), line("a", table: "u"), line("b")])
        #expect(try await store.importLines(text, table: "u") == Import.Outcome(records: 1, created: 1))
        #expect(try await store.importLines(text, namespace: "7:local") == Import.Outcome())
        #expect(try await store.keys() == [])
        #expect(try await store.keys(table: "u") == ["a"])
    }

    @Test(
        "A mistake is reported with its line and its path, and nothing is stored",
        arguments: [
            (#"{"key":"x"}"#, "$.namespace"), ("", "$.records"), ("{", "$"), ("[]", "$"), ("nonsense", "$"),
            (#"{"namespace":"local","table":"t","key":"k","record":{}}"#, "$.namespace"),
            (#"{"namespace":"1:a","table":"","key":"k","record":{}}"#, "$.table"),
            (#"{"namespace":"1:a","table":"t","key":"","record":{}}"#, "$.key"),
            (#"{"namespace":"1:a","table":"t","key":7,"record":{}}"#, "$.key"),
            (#"{"namespace":"1:a","table":"t","key":"k","record":[]}"#, "$.record"),
            (#"{"namespace":"1:a","table":"t","key":"k"}"#, "$.record"),
            (#"{"namespace":"1:a","table":"t","key":"k","record":{},"more":1}"#, "$.more"),
            (#"{"namespace":"1:a","table":"t","key":"k","record":{},"version":"x"}"#, "$.version"),
            (#"{"trestle":"end","records":1}"#, "$"), (#"{"trestle":"something","records":1}"#, "$.trestle"),
        ])
    func mistakes(_ bad: String, _ path: String) async throws {
        let store = try await TestStore()
        let error = try await store.failure { try await store.importLines(file([line("a"), bad, line("b")])) }
        #expect(error.code == "backup.invalid")
        #expect(error.data?["path"] == .string(path), "\(error)")
        // An empty line is skipped, and then the number at the end does not match.
        let number = bad.isEmpty ? 5 : bad == #"{"trestle":"end","records":1}"# ? 4 : 3
        #expect(error.data?["line"] == .number(JSONNumber(number)), "\(error)")
        #expect(error.message.hasPrefix("line \(number): "))
        #expect(try await store.keys() == [])
    }

    @Test(
        "A file that is not an export, or has a newer version, is refused",
        arguments: [
            "", "\n\n", "{}", #"{"trestle":"end","records":0}"#, #"{"trestle":"export","version":2}"#, "PK",
        ])
    func header(_ first: String) async throws {
        let store = try await TestStore()
        let error = try await store.failure { try await store.importLines(first) }
        #expect(error.code == "backup.invalid")
    }

    @Test("The message about a line that is not JSON is a sentence")
    func notJSON() async throws {
        let store = try await TestStore()
        let error = try await store.failure { try await store.importLines("nonsense") }
        #expect(error.message.hasPrefix("line 1: the line is not valid JSON: "))
        #expect(error.data?["expected"] == "JSON")
    }

    @Test("A file that is truncated anywhere is refused, and nothing of it is stored")
    func cut() async throws {
        let store = try await TestStore()
        let text = file(["a", "b"].map { line($0, record: #"{"text":"x"}"#) })
        let bytes = Array(text.utf8)
        // The last line break may be missing.
        for count in 0..<bytes.count - 1 {
            let part = String(decoding: bytes[..<count], as: UTF8.self)
            let error = try await store.failure { try await store.importLines(part) }
            #expect(error.code == "backup.invalid", "\(count)")
        }
        #expect(try await store.keys() == [])
        #expect(try await store.importLines(String(text.dropLast())).created == 2)
    }

    @Test("White space, CRLF line breaks and empty lines change nothing")
    func whiteSpace() async throws {
        let store = try await TestStore()
        let text = "\r\n  \n" + file([line("a"), "  " + line("b") + "\t"]).replacing("\n", with: "\r\n") + "\n\n"
        #expect(try await store.importLines(text).created == 2)
    }

    @Test("A line longer than the maximum is refused with its number")
    func longLine() async throws {
        let store = try await TestStore()
        let text = Self.header + "\n" + String(repeating: "x", count: 3 << 20)
        let error = try await store.failure { try await store.importLines(text) }
        #expect(error.data?["line"] == 2)
        #expect(error.message.contains("longer"))
        let record = #"{"text":"\#(String(repeating: "x", count: Limits.recordBytes))"}"#
        let tooLarge = try await store.failure { try await store.importLines(file([line("a", record: record)])) }
        #expect(tooLarge.data?["path"] == "$.record")
    }

    @Test("An export with random changes is refused with a line, or stored whole")
    func mutated() async throws {
        var generator = SeededGenerator(seed: 0x1234)
        let bytes = Array(file((0..<6).map { line("k\($0)", record: #"{"n":[1,{"a":"b\u00e9"}]}"#) }).utf8)
        let store = try await TestStore()
        for _ in 0..<300 {
            let changed = generator.mutate(bytes, changes: 1...3)
            let before = try await store.export()
            do {
                let outcome = try await store.importBytes(changed, .replace)
                #expect(outcome.created + outcome.replaced == outcome.records)
            } catch let error as BridgeError {
                #expect(error.code == "backup.invalid", "\(error)")
                #expect(error.data?["line"]?.int64Value ?? 0 > 0)
                #expect(try await store.export() == before)
            }
        }
    }

    @Test("A failed import reports the number of stored records, and can be repeated with skip")
    func repetition() async throws {
        let store = try await TestStore()
        let count = Limits.importRecords * 2 + 10
        // The same key twice: the import cannot detect this in advance.
        let lines = (0..<count).map { line("k\($0 == Limits.importRecords + 5 ? 3 : $0)") }
        let error = try await store.failure { try await store.importLines(file(lines)) }
        #expect(error.code == "record.exists")
        #expect(error.data?["line"] == .number(JSONNumber(Limits.importRecords + 5 + 2)))
        #expect(error.data?["stored"] == .number(JSONNumber(Limits.importRecords)))
        #expect(try await store.keys().count == Limits.importRecords)
        let outcome = try await store.importLines(file(lines), .skip)
        #expect(outcome.skipped == Int64(Limits.importRecords + 1))
        #expect(try await store.keys().count == count - 1)
    }

    @Test("An import whose caller has disconnected ends between two transactions")
    func cancelled() async throws {
        let store = try await TestStore()
        let text = file((0..<Limits.importRecords * 3).map { line("k\($0)") })
        let task = Mutex<Task<Import.Outcome, any Error>?>(nil)
        let stored = Mutex<[Int64]>([])
        let begun = Task {
            // Waits until the task can be cancelled.
            while task.withLock({ $0 == nil }) { await Task.yield() }
            return try await store.importLines(text) { done in
                stored.withLock { $0.append(done.records) }
                task.withLock { $0 }?.cancel()
            }
        }
        task.withLock { $0 = begun }
        let error = try await store.failure { _ = try await begun.value }
        #expect(error.code == .callCancelled)
        #expect(stored.withLock { $0 } == [Int64(Limits.importRecords)])
        #expect(try await store.keys().count == Limits.importRecords)
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("Watches get events for imported records")
    func watched() async throws {
        let store = try await TestStore()
        try await store.create("b")
        try await store.call("watch", ["table": "t"])
        try await store.importLines(file([line("a"), line("b")]), .replace)
        await store.settle()
        #expect(store.sink.sent() == ["2 create a", "3 update b"])
    }

    @Test("An import on a full disk reports storage.full, and keeps the records already stored")
    func fullDisk() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await TestStore(directory: directory)
        let text = file((0..<Limits.importRecords * 3).map { line("k\($0)") })
        let error = try await store.failure { try await store.importLines(text) { _ in disk.set(.full, true) } }
        #expect(error.code == "storage.full")
        #expect(error.data?["stored"] == .number(JSONNumber(Limits.importRecords)))
        disk.set(.full, false)
        #expect(try await store.keys().count == Limits.importRecords)
        #expect(try await store.importLines(text, .skip).created == Int64(Limits.importRecords * 2))
    }
}
