import DiskTestSupport
import DurableDatabase
import Foundation
import GRDB
import Synchronization
import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

/// Tells those who work that it is enough.
private final class End: Sendable {
    private let state = Mutex(false)
    var isReached: Bool { state.withLock { $0 } }
    func reach() { state.withLock { $0 = true } }
}

@Suite("Restores")
struct RestoreTests {
    @Test("A restore brings back what was backed up, and keeps what it replaced")
    func restore() async throws {
        let store = try await TestStore()
        for key in ["a", "b"] { try await store.create(key, ["of": .string(key)]) }
        let backup = try await store.backup()
        try await store.call("delete", ["table": "t", "key": "a"])
        try await store.create("c")
        let restored = try await store.restore(backup)
        #expect(restored.records == 2)
        #expect(restored.kept == store.path + ".before-restore-1")
        #expect(try await store.keys() == ["a", "b"])
        #expect(try await store.call("read", ["table": "t", "key": "a"])["record"] == ["of": "a"])
        let keptKeys = try withDatabase(restored.kept) { database in
            try String.fetchAll(database, sql: "SELECT CAST(key AS TEXT) FROM record ORDER BY key")
        }
        #expect(keptKeys == ["b", "c"])
        // It is kept beside those of before.
        try await store.create("d")
        #expect(try await store.restore(backup).kept == store.path + ".before-restore-2")
        try await store.create("e")
        await store.close()
        #expect(try store.otherFiles == ["records.sqlite.before-restore-1", "records.sqlite.before-restore-2"])
        let again = try await TestStore(directory: store.directory)
        #expect(try await again.keys() == ["a", "b", "e"])
    }

    @Test("The restored store is written with the same care as any other")
    func settings() async throws {
        let store = try await TestStore()
        try await store.restore(try await store.backup())
        try await store.create("a")
        try await store.work { access in
            let mode = try String.fetchOne(access.records.database, sql: "PRAGMA journal_mode")
            #expect(mode == "wal")
            let synchronous = try Int.fetchOne(access.records.database, sql: "PRAGMA synchronous")
            #expect(synchronous == 2)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: store.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    // MARK: Versions and watches

    @Test("No version of before a restore is given out again, or taken for known")
    func versions() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        for key in ["b", "c", "d"] { try await store.create(key) }
        // A namespace that the backup does not have.
        try await store.create("x", uid: 7)
        try await store.restore(backup)
        for uid in [1000, 7] as [UInt32] {
            for key in 0..<10 { try await store.create("new \(key)", uid: uid) }
            for since in 0...5 as ClosedRange<Int64> {
                let error = try await store.failure("watch", ["table": "t", "since": JSON(since)], uid: uid)
                #expect(error.code == "cursor.expired")
            }
        }
        let update: JSON = ["table": "t", "key": "a", "record": [:], "ifVersion": 1]
        let version = try #require(try await store.call("update", update).version)
        #expect(version > Limits.versionsPerRestore)
        #expect(try await store.call("watch", ["table": "t", "since": JSON(version - 1)]).version == version)
    }

    @Test("A store that is lost altogether is known by none of its versions in another one")
    func elsewhere() async throws {
        let lost = try await TestStore()
        try await lost.create("a")
        let backup = try await lost.backup()
        for key in 0..<50 { try await lost.create("lost \(key)") }
        let store = try await TestStore()
        try await store.restore(backup)
        for key in 0..<100 { try await store.create("new \(key)") }
        #expect(try await store.failure("watch", ["table": "t", "since": 51]).code == "cursor.expired")
    }

    @Test("Those who watch are told that what they know is out of date, and then what changes")
    func watchers() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        try await store.call("watch", ["table": "t"])
        try await store.call("watch", ["table": "t", "namespace": "1000:local"], session: 2, uid: 0, isTrusted: true)
        try await store.call("watch", ["table": "other"], session: 3)
        try await store.call("watch", ["table": "t"], session: 4)
        try await store.call("watch", ["table": "t", "stop": true], session: 4)
        try await store.restore(backup)
        let version = 1 + Limits.versionsPerRestore
        #expect(
            store.sink.expired.sorted { $0.session < $1.session } == [
                .init(session: 1, expired: CursorExpired(table: "t", version: version)),
                .init(session: 2, expired: CursorExpired(table: "t", version: version, namespace: "1000:local")),
                .init(session: 3, expired: CursorExpired(table: "other", version: version)),
            ])
        try await store.create("b")
        await store.settle()
        for session in [1, 2] as [SessionID] {
            #expect(store.sink.sent(session) == ["\(version + 1) create b"])
        }
    }

    @Test("A replay that is under way ends with a restore; the watch goes on")
    func replay() async throws {
        let store = try await TestStore()
        let backup = try await store.backup()
        _ = await store.send(
            (0..<1500).map { .init("create", ["table": "t", "key": .string("k\($0)"), "record": [:]]) })
        try await store.call("watch", ["table": "t", "since": 0])
        await store.finishJobs()
        #expect(store.sink.sent().count == Limits.replayPageEvents)
        try await store.restore(backup)
        await store.settle()
        #expect(store.sink.sent().count == Limits.replayPageEvents)
        #expect(store.sink.expired.count == 1)
        try await store.create("new")
        await store.settle()
        #expect(store.sink.sent().last?.hasSuffix(" create new") == true)
    }

    // MARK: Others meanwhile

    @Test("Calls that wait while the store is replaced are carried out on the restored one")
    func waiting() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        try await store.create("b")
        let release = StoreLane.allCases.map(store.hold)
        let read = store.begin(.init("read", ["table": "t", "key": "b"], session: 2))
        // Of another key: nothing says which of the two sessions comes first.
        let write = store.begin(.init("create", ["table": "t", "key": "c", "record": [:]], session: 3))
        try await store.restore(backup)
        release.forEach { $0() }
        let missing = await read.outcome
        #expect(throws: BridgeError.self) { try missing.get() }
        #expect(try await write.outcome.get().version ?? 0 > Limits.versionsPerRestore)
    }

    @Test("Under load every call gets one answer, and what is acknowledged after the last restore is there")
    func concurrent() async throws {
        let store = try await TestStore()
        try await store.create("kept")
        let backup = try await store.backup()
        for session in 10..<14 { try await store.call("watch", ["table": "t"], session: SessionID(session)) }
        let end = End()
        let writers = (1...4).map { session in
            Task {
                var outcomes: [(key: String, outcome: TestStore.Outcome)] = []
                var count = 0
                while !end.isReached {
                    let keys = (0..<20).map { "s\(session) \(count + $0)" }
                    let calls = keys.map { key in
                        store.begin(
                            .init(
                                "create", ["table": "t", "key": .string(key), "record": [:]],
                                session: SessionID(session)))
                    }
                    let reads = (0..<5).map { _ in
                        store.begin(.init("read", ["table": "t", "key": "kept"], session: SessionID(session)))
                    }
                    for (key, call) in zip(keys, calls) { outcomes.append((key, await call.outcome)) }
                    for read in reads {
                        if case .failure(let error) = await read.outcome { Issue.record("\(error)") }
                    }
                    count += 20
                }
                return outcomes
            }
        }
        for _ in 0..<5 { try await store.restore(backup) }
        end.reach()
        var acknowledged: [String: Int64] = [:]
        for writer in writers {
            // Ordinary calls know nothing of a restore.
            for (key, outcome) in await writer.value { acknowledged[key] = try outcome.get().version }
        }
        for (key, version) in acknowledged {
            // Every restore put the versions ahead, so that they tell when a record was made.
            if version > 5 * Limits.versionsPerRestore {
                #expect(try await store.call("read", ["table": "t", "key": .string(key)]).version == version)
            } else {
                let error = try await store.failure("read", ["table": "t", "key": .string(key)])
                #expect(error.code == "record.not_found")
            }
        }
        await store.settle()
        // Every one of them was told of each restore, before the changes that came after it.
        for session in (10..<14).map({ SessionID($0) }) {
            #expect(store.sink.expired.filter { $0.session == session }.count == 5)
        }
    }

    // MARK: What changes nothing

    @Test("An upload that did not come whole is refused")
    func incomplete() async throws {
        let store = try await TestStore()
        let backup = try await store.backup()
        for expected in [
            StoreCopies.Expected(bytes: Int64(backup.count) + 1), .init(bytes: 0),
            .init(bytes: Int64(backup.count), sha256: String(repeating: "0", count: 64)),
        ] {
            let error = try await store.failure {
                _ = try await store.copies.restore(upload: store.upload(backup), expected, of: 1)
            }
            #expect(error.code == "backup.invalid")
        }
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test(
        "A database that is no store, of another version, or not sound is refused with the reason",
        arguments: [
            ("", "no store"), ("DROP TABLE deletion", "no store"), ("CREATE TABLE more (id INTEGER)", "no store"),
            ("CREATE TRIGGER t AFTER UPDATE ON namespace BEGIN DELETE FROM record; END", "no store"),
            ("DELETE FROM grdb_migrations", "no store"), ("DROP TABLE grdb_migrations", "no store"),
            ("INSERT INTO grdb_migrations VALUES ('of the future')", "newer"),
            ("UPDATE record SET body = '[1]'", "record 1"), ("UPDATE record SET body = '{'", "record 1"),
            ("UPDATE record SET body = '{' || char(10) || '}'", "record 1"),
            ("UPDATE record SET key = x'ff'", "record 1"), ("UPDATE record SET key = x''", "record 1"),
            ("UPDATE record SET version = 5000", "contradict"), ("UPDATE record SET created = 0", "contradict"),
            ("UPDATE namespace SET version = 9007199254740991", "contradict"),
            ("UPDATE namespace SET uid = -1", "contradict"), ("UPDATE namespace SET origin = x'ff'", "contradict"),
            ("UPDATE collection SET name = x''", "contradict"), ("DELETE FROM failure", "contradict"),
            ("PRAGMA foreign_keys = OFF; UPDATE record SET collection = 99", "contradict"),
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

    @Test("Text, nothing, and a part of a backup are refused")
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

    @Test("Whatever was changed in a backup, the store stays one that works")
    func mutated() async throws {
        var generator = SeededGenerator(seed: 0xBAC4)
        let store = try await TestStore()
        for key in 0..<60 { try await store.create("k\(key)", ["text": .string(String(repeating: "x", count: 300))]) }
        for key in 0..<5 { try await store.call("delete", ["table": "t", "key": .string("k\(key)")]) }
        let backup = try await store.backup()
        var refused = 0
        for _ in 0..<150 {
            var bytes = backup
            // Mostly where structure is: the beginnings of pages.
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
            // All of it can be read, and written.
            #expect(try await store.call("query", ["table": "t", "limit": 1000])["records"] != nil)
            try await store.call("update", ["table": "t", "key": "k40", "patch": ["n": 1]])
        }
        #expect(refused > 30)
        try await store.restore(backup)
        #expect(try await store.keys().count == 55)
    }

    @Test("Where the disk fails a restore, nothing has changed", arguments: ["full", "sync", "read"])
    func faults(_ name: String) async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let fault: FaultyDisk.Fault = name == "full" ? .full : name == "sync" ? .sync : .read
        let store = try await TestStore(directory: directory)
        try await store.create("a")
        let backup = try await store.backup()
        try await store.create("b")
        let id = try store.upload(backup)
        disk.set(fault, true)
        let error = try await store.failure {
            _ = try await store.copies.restore(upload: id, .init(bytes: Int64(backup.count)), of: 1)
        }
        #expect(["storage.full", "storage.failed"].contains(error.code.rawValue), "\(error)")
        disk.set(fault, false)
        #expect(try await store.keys() == ["a", "b"])
        try await store.create("c")
        await store.close()
        #expect(try store.otherFiles == [])
        let again = try await TestStore(directory: directory)
        #expect(try await again.keys() == ["a", "b", "c"])
    }

    @Test("A database that another process reads is not replaced under it")
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

    @Test("An upload can be used once, and not written to any more then")
    func usedUp() async throws {
        let store = try await TestStore()
        let backup = try await store.backup()
        let id = try store.upload(backup)
        let file = try store.copies.upload(id, of: 1)
        let expected = StoreCopies.Expected(bytes: Int64(backup.count))
        _ = try await store.copies.restore(upload: id, expected, of: 1)
        #expect(throws: BridgeError.self) { try file.write([0], at: 0) }
        let error = try await store.failure { _ = try await store.copies.restore(upload: id, expected, of: 1) }
        #expect(error.code == "transfer.not_found")
    }

    @Test("A connection that reads is open from the beginning, and after a restore: reads need no disk to write to")
    func holdsIndex() async throws {
        let store = try await TestStore()
        #expect(store.store.reads.withLock { $0.kept?.opened != nil })
        try await store.restore(try await store.backup())
        #expect(store.store.reads.withLock { $0.kept?.opened != nil })
        await store.close()
    }
}
