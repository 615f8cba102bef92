import DiskTestSupport
import Foundation
import GRDB
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Backups", .timeLimit(.minutes(20)))
struct BackupTests {
    @Test("A backup is the whole store in one file that only its owner can read")
    func whole() async throws {
        let store = try await TestStore()
        for key in ["a", "b"] { try await store.create(key, ["of": .string(key), "price": try .text("1.50")]) }
        let copy = try await store.copies.backUp(for: 1)
        #expect(copy.records == 2)
        let name = try #require(try store.otherFiles.first)
        let attributes = try FileManager.default.attributesOfItem(atPath: store.directory + "/" + name)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let path = try TestStore.makeDirectory() + "/backup.sqlite"
        try Data(await store.take(copy)).write(to: URL(fileURLWithPath: path))
        let finding = try withDatabase(path) { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(finding == "ok")
        let records = try withDatabase(path) { try String.fetchAll($0, sql: "SELECT body FROM record ORDER BY key") }
        #expect(records == [#"{"of":"a","price":1.50}"#, #"{"of":"b","price":1.50}"#])
    }

    @Test("A backup and the lanes do not wait for each other")
    func independent() async throws {
        let store = try await TestStore()
        try await store.create("a")
        let release = await store.holdAll()
        let copy = try await store.copies.backUp(for: 1)
        release()
        #expect(copy.records == 1)
        try await store.create("b")
        #expect(try await store.backup().count == Int(copy.bytes))
    }

    @Test("A backup does not contain deleted records")
    func deleted() async throws {
        let store = try await TestStore()
        let secret = String(repeating: "confidential ", count: 400)
        for key in ["a", "b"] { try await store.create(key, ["text": .string(secret)]) }
        for key in ["a", "b"] { try await store.call("delete", ["table": "t", "key": .string(key)]) }
        #expect(Data(try await store.backup()).range(of: Data("confidential".utf8)) == nil)
    }

    @Test("A restore accepts the size and the hash of a backup")
    func hash() async throws {
        let store = try await TestStore()
        let copy = try await store.copies.backUp(for: 1)
        let bytes = try await store.take(copy)
        #expect(try await store.restore(bytes, .init(bytes: copy.bytes, sha256: copy.sha256)).records == 0)
    }

    @Test("A copy that is sent during the store's close is complete or cancelled, and leaves no file")
    func sentAtTheEnd() async throws {
        let store = try await TestStore()
        let copy = try await store.copies.backUp(for: 1)
        let sending = Task { try await store.copies.send(copy) { _ in } }
        await store.copies.close()
        #expect(try store.otherFiles == [])
        if case .failure(let error) = await sending.result {
            #expect((error as? BridgeError)?.code == .callCancelled)
        }
        await store.store.close()
    }

    @Test("A reader that disconnects during the transfer leaves no file, and the stream's error is reported")
    func half() async throws {
        let store = try await TestStore()
        for key in 0..<300 { try await store.create("k\(key)", ["text": .string(String(repeating: "x", count: 2000))]) }
        let copy = try await store.copies.backUp(for: 1)
        var parts = 0
        let error = try await store.failure {
            try await store.copies.send(copy) { part in
                parts += 1
                #expect(part.count <= Limits.partBytes)
                if parts == 2 { throw BridgeError("stream.closed", "the reader has left") }
            }
        }
        #expect(error.code == "stream.closed" && parts == 2)
        try await store.finishCopies()
        #expect(try store.otherFiles.filter { !$0.hasSuffix("transfer-2") } == [])
    }

    @Test("Removes a backup after it was sent, when its session ends and when the store closes")
    func leftovers() async throws {
        let store = try await TestStore()
        _ = try await store.backup()
        _ = try await store.copies.backUp(for: 7)
        store.copies.sessionClosed(7)
        try await store.finishCopies()
        try await store.finishCopies()
        #expect(try store.otherFiles.filter { !$0.hasSuffix("transfer-4") } == [])
        let copy = try await store.copies.backUp(for: 1)
        await store.close()
        #expect(try store.otherFiles == [])
        #expect(try await store.failure { _ = try await store.take(copy) }.code == .callCancelled)
        let error = try await store.failure { _ = try await store.copies.backUp(for: 1) }
        #expect(error.code == .pluginUnavailable)
    }

    @Test("A session that ends while its backup is made leaves no file")
    func cancelled() async throws {
        let store = try await TestStore()
        try await store.create("a")
        for _ in 0..<20 {
            let task = Task { try await store.copies.backUp(for: 3) }
            await Task.yield()
            store.copies.sessionClosed(3)
            task.cancel()
            if case .success(let copy) = await task.result {
                // The session had ended before this, or ends now.
                store.copies.sessionClosed(3)
                #expect(copy.records == 1)
            }
        }
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("At most four copies run at a time; a further one fails as busy until one has ended")
    func bound() async throws {
        let store = try await TestStore()
        var copies: [StoreCopies.Copy] = []
        for session in 1...4 { copies.append(try await store.copies.backUp(for: SessionID(session))) }
        let error = try await store.failure { _ = try await store.copies.backUp(for: 5) }
        #expect(error.code == .busy)
        #expect(error.isTransient)
        #expect(try await store.failure { try await store.importLines("") }.code == .busy)
        _ = try await store.take(copies[3])
        #expect(try await store.copies.backUp(for: 5).records == 0)
    }

    @Test("A copy whose file is truncated before it is sent fails")
    func cut() async throws {
        let store = try await TestStore()
        let copy = try await store.copies.backUp(for: 1)
        truncate(copy.file.path, 100)
        #expect(try await store.failure { _ = try await store.take(copy) }.code == "storage.failed")
        await store.close()
        #expect(try store.otherFiles == [])
    }

    @Test("A backup on a disk that is full or fails reports the error and leaves no file", arguments: ["full", "read"])
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

    @Test("The next start removes the files that a killed daemon left, but not those that a restore kept")
    func killed() throws {
        let directory = try TestStore.makeDirectory()
        let names = ["records.sqlite", "records.sqlite.transfer-3", "records.sqlite.transfer-3-journal", "notes"]
        for name in names + ["records.sqlite.before-restore-1"] {
            try Data(name.utf8).write(to: URL(fileURLWithPath: directory + "/" + name))
        }
        // A restore that was killed between its two steps leaves a second name of the database itself.
        link(directory + "/records.sqlite", directory + "/records.sqlite.before-restore-2")
        StoreSwap.removeLeftovers(of: StoreFile(path: directory + "/records.sqlite"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
                == ["notes", "records.sqlite", "records.sqlite.before-restore-1"])
    }
}
