import DurableDatabase
import Foundation
import GRDB
import Synchronization
import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

/// A flag that stops the writers.
private final class End: Sendable {
    private let state = Mutex(false)
    var isReached: Bool { state.withLock { $0 } }
    func reach() { state.withLock { $0 = true } }
}

@Suite("Restores", .timeLimit(.minutes(20)))
struct RestoreTests {
    @Test("A restore brings back the backed-up records, and keeps the replaced database")
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
        // The second replaced database is kept beside the first.
        try await store.create("d")
        #expect(try await store.restore(backup).kept == store.path + ".before-restore-2")
        try await store.create("e")
        await store.close()
        #expect(try store.otherFiles == ["records.sqlite.before-restore-1", "records.sqlite.before-restore-2"])
        let again = try await TestStore(directory: store.directory)
        #expect(try await again.keys() == ["a", "b", "e"])
    }

    @Test("The restored database has the same journal mode, synchronous setting and permissions")
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

    @Test("After a restore, versions from before it are not reused and cannot be resumed from")
    func versions() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        for key in ["b", "c", "d"] { try await store.create(key) }
        // A namespace that the backup does not contain.
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

    @Test("Versions of a lost store are refused by the store that its backup was restored into")
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

    @Test("A restore sends cursor.expired to watches, and later changes follow")
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

    @Test("A restore ends a running replay, and the watch continues")
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

    @Test("Calls that wait during a restore are carried out on the restored store")
    func waiting() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let backup = try await store.backup()
        try await store.create("b")
        let release = await store.holdAll()
        let read = store.begin(.init("read", ["table": "t", "key": "b"], session: 2))
        // Another key, because the order of the two sessions is not defined.
        let write = store.begin(.init("create", ["table": "t", "key": "c", "record": [:]], session: 3))
        try await store.restore(backup)
        release()
        let missing = await read.outcome
        #expect(throws: BridgeError.self) { try missing.get() }
        #expect(try await write.outcome.get().version ?? 0 > Limits.versionsPerRestore)
    }

    @Test("Under load every call succeeds during restores, and writes after the last one are stored")
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
            // Ordinary calls do not fail because of a restore.
            for (key, outcome) in await writer.value { acknowledged[key] = try outcome.get().version }
        }
        for (key, version) in acknowledged {
            // Every restore advances the versions, so a version shows when a record was created.
            if version > 5 * Limits.versionsPerRestore {
                #expect(try await store.call("read", ["table": "t", "key": .string(key)]).version == version)
            } else {
                let error = try await store.failure("read", ["table": "t", "key": .string(key)])
                #expect(error.code == "record.not_found")
            }
        }
        await store.settle()
        // Every watcher was notified of each restore.
        for session in (10..<14).map({ SessionID($0) }) {
            #expect(store.sink.expired.filter { $0.session == session }.count == 5)
        }
    }

    @Test("A read connection is open from the start and after a restore, so that reads need no writable disk")
    func holdsIndex() async throws {
        let store = try await TestStore()
        #expect(store.store.reads.withLock { $0.kept?.opened != nil })
        try await store.restore(try await store.backup())
        #expect(store.store.reads.withLock { $0.kept?.opened != nil })
        await store.close()
    }
}
