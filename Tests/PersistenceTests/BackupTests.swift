import DiskTestSupport
import Foundation
import GRDB
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Backups")
struct BackupTests {
    @Test("A backup is the whole store in one file, which only its owner can read while it is there")
    func whole() async throws {
        let store = try await TestStore()
        for key in ["a", "b"] { try await store.create(key, ["of": .string(key), "price": try .text("1.50")]) }
        let copy = try await store.copies.backUp(for: 1)
        #expect(copy.records == 2)
        let name = try #require(try store.otherFiles.first)
        let attributes = try FileManager.default.attributesOfItem(atPath: store.directory + "/" + name)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let path = try TestStore.makeDirectory() + "/backup.sqlite"
        try Data(store.take(copy)).write(to: URL(fileURLWithPath: path))
        let finding = try withDatabase(path) { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(finding == "ok")
        let records = try withDatabase(path) { try String.fetchAll($0, sql: "SELECT body FROM record ORDER BY key") }
        #expect(records == [#"{"of":"a","price":1.50}"#, #"{"of":"b","price":1.50}"#])
    }

    @Test("A backup waits for no lane, and none for it")
    func independent() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let release = StoreLane.allCases.map(store.hold)
        let copy = try await store.copies.backUp(for: 1)
        release.forEach { $0() }
        #expect(copy.records == 1)
        try await store.create("b")
        #expect(try await store.backup().count == Int(copy.bytes))
    }

    @Test("What was deleted is not in a backup")
    func deleted() async throws {
        let store = try await TestStore()
        let secret = String(repeating: "confidential ", count: 400)
        for key in ["a", "b"] { try await store.create(key, ["text": .string(secret)]) }
        for key in ["a", "b"] { try await store.call("delete", ["table": "t", "key": .string(key)]) }
        #expect(Data(try await store.backup()).range(of: Data("confidential".utf8)) == nil)
    }

    @Test("The hash is that of the bytes")
    func hash() async throws {
        let store = try await TestStore()
        let copy = try await store.copies.backUp(for: 1)
        let bytes = try store.take(copy)
        let id = try store.upload(bytes)
        let expected = StoreCopies.Expected(bytes: copy.bytes, sha256: copy.sha256)
        #expect(try await store.copies.restore(upload: id, expected, of: 1).records == 0)
    }

    @Test("The end of the copies waits for a part that is at work")
    func partAtWork() async throws {
        let store = try await TestStore()
        let hasEnded = DispatchSemaphore(value: 0)
        let isLate = Mutex(false)
        store.copies.onLaneOfParts {
            // An end that does not wait for this comes within that time.
            let outcome = hasEnded.wait(timeout: .now() + .milliseconds(200))
            isLate.withLock { $0 = outcome == .success }
        }
        await store.copies.close()
        hasEnded.signal()
        await withCheckedContinuation { continuation in store.copies.onLaneOfParts { continuation.resume() } }
        #expect(isLate.withLock { !$0 })
        await store.store.close()
    }

    @Test("Nothing is left of a backup that was ended, whose session ended, or when the store is closed")
    func leftovers() async throws {
        let store = try await TestStore()
        _ = try await store.backup()
        _ = try await store.copies.backUp(for: 7)
        store.copies.sessionClosed(7)
        try await store.finishCopies()
        try await store.finishCopies()
        #expect(try store.otherFiles.filter { !$0.hasSuffix("transfer-4") } == [])
        _ = try await store.copies.backUp(for: 1)
        _ = try store.upload([1, 2, 3])
        await store.close()
        #expect(try store.otherFiles == [])
        let error = try await store.failure { _ = try await store.copies.backUp(for: 1) }
        #expect(error.code == .pluginUnavailable)
    }

    @Test("A session that ends while its backup is being made leaves nothing")
    func cancelled() async throws {
        let store = try await TestStore()
        try await store.create("a")
        for _ in 0..<20 {
            let task = Task { try await store.copies.backUp(for: 3) }
            await Task.yield()
            store.copies.sessionClosed(3)
            task.cancel()
            if case .success(let copy) = await task.result {
                // The session was gone, or ends now.
                store.copies.sessionClosed(3)
                #expect(copy.records == 1)
            }
        }
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("Four copies travel at a time; another one is told busy, until one of them has ended")
    func bound() async throws {
        let store = try await TestStore()
        var last: UInt64 = 0
        for session in 1...4 { last = try await store.copies.backUp(for: SessionID(session)).download }
        let error = try await store.failure { _ = try await store.copies.backUp(for: 5) }
        #expect(error.code == .busy)
        #expect(error.isTransient)
        #expect(throws: BridgeError.self) { try store.copies.beginUpload(for: 1) }
        try store.copies.endDownload(last, of: 4)
        #expect(try await store.copies.backUp(for: 5).records == 0)
    }

    @Test("A copy belongs to its session alone, and has its direction")
    func owner() async throws {
        let store = try await TestStore()
        let copy = try await store.copies.backUp(for: 1)
        for body: () throws -> Void in [
            { _ = try store.copies.download(copy.download, of: 2) },
            { try store.copies.endDownload(copy.download, of: 2) },
            { _ = try store.copies.upload(copy.download, of: 1) },
            { try store.copies.endUpload(copy.download, of: 1) },
        ] {
            #expect(try #require(throws: BridgeError.self) { try body() }.code == "transfer.not_found")
        }
        #expect(try store.take(copy).count == Int(copy.bytes))
        #expect(throws: BridgeError.self) { try store.take(copy) }
    }

    @Test("Where the disk is full or fails, a backup says so and leaves nothing", arguments: ["full", "read"])
    func faults(_ fault: String) async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await TestStore(directory: directory)
        try await store.create("a", ["text": .string(String(repeating: "x", count: 50_000))])
        disk.set(fault == "full" ? .full : .read, true)
        let error = try await store.failure { _ = try await store.copies.backUp(for: 1) }
        #expect(error.code == (fault == "full" ? "storage.full" : "storage.failed"))
        disk.set(fault == "full" ? .full : .read, false)
        #expect(try await store.copies.backUp(for: 1).records == 1)
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("What a killed daemon left behind goes at the next start, what a restore kept stays")
    func killed() throws {
        let directory = try TestStore.makeDirectory()
        let names = ["records.sqlite", "records.sqlite.transfer-3", "records.sqlite.transfer-3-journal", "notes"]
        for name in names + ["records.sqlite.before-restore-1"] {
            try Data(name.utf8).write(to: URL(fileURLWithPath: directory + "/" + name))
        }
        // A restore that was killed between its two steps: another name of the database itself.
        link(directory + "/records.sqlite", directory + "/records.sqlite.before-restore-2")
        StoreSwap.removeLeftovers(of: StoreFile(path: directory + "/records.sqlite"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
                == ["notes", "records.sqlite", "records.sqlite.before-restore-1"])
    }
}
