import DiskTestSupport
import Foundation
import GRDB
import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("Refused restores", .timeLimit(.minutes(20)))
struct RefusedRestoreTests {
    @Test("A file that differs from the expected size or hash is refused")
    func incomplete() async throws {
        let store = try await TestStore()
        let backup = try await store.backup()
        let bytes = Int64(backup.count)
        for expected in [
            StoreCopies.Expected(bytes: bytes + 1), .init(bytes: bytes - 1), .init(bytes: 0),
            .init(bytes: bytes, sha256: String(repeating: "0", count: 64)),
        ] {
            let error = try await store.failure { try await store.restore(backup, expected) }
            #expect(error.code == "backup.invalid")
        }
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("A failed stream fails the restore with its error, and no file is left")
    func broken() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        let failure = BridgeError("stream.closed", "the writer ended the stream")
        // The backup's own file may be removed meanwhile.
        let before = Set(try store.otherFiles)
        let parts = Parts(backup, failure: failure) {
            let files = try? Set(store.otherFiles).subtracting(before)
            #expect(files?.count == 1)
        }
        let error = try await store.failure { _ = try await store.copies.restore(parts, .init(), of: 1) }
        #expect(error.code == "stream.closed")
        #expect(try await store.keys() == ["a"])
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("A restore whose session ends during the upload changes nothing and leaves no file")
    func sessionEnded() async throws {
        let store = try await TestStore()
        let backup = try await store.backup()
        try await store.create("a")
        let parts = Parts(backup) { store.copies.sessionClosed(7) }
        let error = try await store.failure { _ = try await store.copies.restore(parts, .init(), of: 7) }
        #expect(error.code == .callCancelled)
        #expect(try await store.keys() == ["a"])
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test(
        "A database that is not a store, has another version, or is damaged is refused with the reason",
        arguments: [
            ("", "not a store"), ("DROP TABLE deletion", "not a store"),
            ("CREATE TABLE more (id INTEGER)", "not a store"),
            ("CREATE TRIGGER t AFTER UPDATE ON namespace BEGIN DELETE FROM record; END", "not a store"),
            ("DELETE FROM grdb_migrations", "not a store"), ("DROP TABLE grdb_migrations", "not a store"),
            ("INSERT INTO grdb_migrations VALUES ('of the future')", "newer"),
            ("UPDATE record SET body = '[1]'", "record 1"), ("UPDATE record SET body = '{'", "record 1"),
            ("UPDATE record SET body = '{' || char(10) || '}'", "record 1"),
            ("UPDATE record SET key = x'ff'", "record 1"), ("UPDATE record SET key = x''", "record 1"),
            ("UPDATE record SET version = 5000", "inconsistent"), ("UPDATE record SET created = 0", "inconsistent"),
            ("UPDATE namespace SET version = 9007199254740991", "inconsistent"),
            ("UPDATE namespace SET uid = -1", "inconsistent"), ("UPDATE namespace SET origin = x'ff'", "inconsistent"),
            ("UPDATE collection SET name = x''", "inconsistent"), ("DELETE FROM failure", "inconsistent"),
            ("PRAGMA foreign_keys = OFF; UPDATE record SET collection = 99", "inconsistent"),
        ])
    func foreign(_ sql: String, _ reason: String) async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        let bytes = try sql.isEmpty ? changed([], "CREATE TABLE foreigners (id INTEGER)") : changed(backup, sql)
        try await store.create("b")
        let error = try await store.failure { try await store.restore(bytes) }
        #expect(error.code == "backup.invalid")
        #expect(error.message.contains(reason), "\(error.message)")
        #expect(try await store.keys() == ["a", "b"])
    }

    @Test("Text, an empty file, and a part of a backup are refused")
    func noDatabase() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        for bytes in [[], Array("no database at all".utf8), Array(backup.dropLast(4096)), Array(backup.prefix(100))] {
            let error = try await store.failure { try await store.restore(bytes) }
            #expect(error.code == "backup.invalid", "\(error)")
        }
        #expect(try await store.keys() == ["a"])
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("After a restore of a randomly changed backup, the store still works")
    func mutated() async throws {
        var generator = SeededGenerator(seed: 0xBAC4)
        let store = try await TestStore()
        for key in 0..<60 { try await store.create("k\(key)", ["text": .string(String(repeating: "x", count: 300))]) }
        for key in 0..<5 { try await store.call("delete", ["table": "t", "key": .string("k\(key)")]) }
        let backup = try await store.backup()
        var refused = 0
        for _ in 0..<150 {
            var bytes = backup
            // Half of the changes are in the first 64 bytes of a page, where its structure is.
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let page = Int.random(in: 0..<bytes.count / 4096, using: &generator) * 4096
                let offset = page + Int.random(in: 0..<(Bool.random(using: &generator) ? 64 : 4096), using: &generator)
                bytes[offset] = UInt8.random(in: 0...255, using: &generator)
            }
            do {
                try await store.restore(bytes)
            } catch let error as BridgeError {
                refused += 1
                #expect(error.code == "backup.invalid", "\(error)")
            }
            // The whole table can be read and written.
            #expect(try await store.call("query", ["table": "t", "limit": 1000])["records"] != nil)
            try await store.call("update", ["table": "t", "key": "k40", "patch": ["n": 1]])
        }
        #expect(refused > 30)
        try await store.restore(backup)
        #expect(try await store.keys().count == 55)
    }

    @Test("A disk fault during a restore leaves the store unchanged", arguments: ["full", "sync", "read"])
    func faults(_ name: String) async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let fault: FaultyDisk.Fault = name == "full" ? .full : name == "sync" ? .sync : .read
        let store = try await TestStore(directory: directory)
        try await store.create("a")
        let backup = try await store.backup()
        try await store.create("b")
        let parts = Parts(backup) { disk.set(fault, true) }
        let error = try await store.failure { _ = try await store.copies.restore(parts, .init(), of: 1) }
        #expect(["storage.full", "storage.failed"].contains(error.code.rawValue), "\(error)")
        disk.set(fault, false)
        #expect(try await store.keys() == ["a", "b"])
        try await store.create("c")
        await store.close()
        #expect(try store.otherFiles == [])
        let again = try await TestStore(directory: directory)
        #expect(try await again.keys() == ["a", "b", "c"])
    }

    @Test("A restore on a full disk is refused, and a later one succeeds")
    func fullWhileItComes() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await TestStore(directory: directory)
        try await store.create("a")
        let backup = try await store.backup()
        disk.set(.full, true)
        #expect(try await store.failure { try await store.restore(backup) }.code == "storage.full")
        disk.set(.full, false)
        try await store.restore(backup)
        await store.close()
        #expect(try store.otherFiles == ["records.sqlite.before-restore-1"])
    }

    @Test("A restore is refused while another process reads the database")
    func inUse() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        try await store.create("b")
        let reader = try DatabaseQueue(path: store.path)
        let error = try await store.failure {
            try await reader.read { database in
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM record")
            }
            try await store.restore(backup)
        }
        #expect(error.code == "storage.failed")
        #expect(error.isTransient)
        #expect(error.message.contains("another process"))
        #expect(try await store.keys() == ["a", "b"])
        try reader.close()
        try await store.restore(backup)
        #expect(try await store.keys() == ["a"])
    }
}
