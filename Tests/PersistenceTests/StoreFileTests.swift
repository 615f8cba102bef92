import Foundation
import GRDB
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("The database file", .timeLimit(.minutes(20)))
struct StoreFileTests {
    @Test("A file that is not a database is refused and left unchanged")
    func noDatabase() throws {
        let path = try TestStore.makeDirectory() + "/records.sqlite"
        let bytes = Data(repeating: 0x41, count: 8192)
        try bytes.write(to: URL(fileURLWithPath: path))
        let error = try #require(throws: BridgeError.self) {
            _ = try StoreFile(path: path).open(integrityCheck: Interruption())
        }
        #expect(error.code == "storage.failed")
        #expect(error.message.contains("damaged"))
        #expect(error.message.contains(path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test("A database with a damaged page is refused when it is opened")
    func damagedPage() async throws {
        let directory = try await TestStore.makeDamagedDirectory()
        let error = try await #require(throws: BridgeError.self) { _ = try await TestStore(directory: directory) }
        #expect(error.code == "storage.failed")
        #expect(error.message.contains("damaged"))
    }

    @Test("A database with a zeroed overflow page of a record is refused, although its page structure is intact")
    func damagedRecord() async throws {
        let directory = try TestStore.makeDirectory()
        let store = try await TestStore(directory: directory)
        let text = JSON.string(String(repeating: "r", count: 20_000))
        try await store.call("create", ["table": "t", "key": "a", "record": ["text": text]])
        await store.close()
        let url = URL(fileURLWithPath: store.path)
        var bytes = try Data(contentsOf: url)
        let page = try #require(
            (2..<bytes.count / 4096).last { bytes[$0 * 4096 + 4..<$0 * 4096 + 100].allSatisfy { $0 == 0x72 } })
        // The first four bytes point to the next page.
        bytes.replaceSubrange(page * 4096 + 4..<(page + 1) * 4096, with: Data(repeating: 0, count: 4092))
        try bytes.write(to: url)
        let error = try await #require(throws: BridgeError.self) { _ = try await TestStore(directory: directory) }
        #expect(error.code == "storage.failed")
        #expect(error.message.contains("damaged"))
    }

    @Test("A database of a newer version is refused")
    func newer() throws {
        let path = try TestStore.makeDirectory() + "/records.sqlite"
        let queue = try StoreFile(path: path).open(integrityCheck: Interruption()).queue
        try queue.inDatabase { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of the future')") }
        try queue.close()
        let error = try #require(throws: BridgeError.self) {
            _ = try StoreFile(path: path).open(integrityCheck: Interruption())
        }
        #expect(error.message.contains("newer"))
    }

    @Test("The error for a missing directory contains the path")
    func noDirectory() throws {
        let path = try TestStore.makeDirectory() + "/missing/records.sqlite"
        let error = try #require(throws: BridgeError.self) {
            _ = try StoreFile(path: path).open(integrityCheck: Interruption())
        }
        #expect(error.code == "storage.failed")
        #expect(error.message.contains(path))
    }

    @Test("After a clean close the write-ahead log is empty or removed")
    func cleanClose() async throws {
        let directory = try TestStore.makeDirectory()
        let store = try await TestStore(directory: directory)
        try await store.call("create", ["table": "t", "key": "a", "record": [:]])
        await store.close()
        let attributes = try? FileManager.default.attributesOfItem(atPath: store.path + "-wal")
        #expect(attributes?[.size] as? Int ?? 0 == 0)
    }
}
