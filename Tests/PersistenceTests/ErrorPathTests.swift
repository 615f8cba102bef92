import DurableDatabase
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Errors do not contain the paths of the daemon's files")
struct ErrorPathTests {
    @Test("If the database cannot be opened, the log contains the path and the error does not")
    func opening() throws {
        let log = Mutex<[String]>([])
        let missing = StoreFile(path: "/nowhere/at/all/records.sqlite")
        let full = BridgeError(.storageFull, "the database /nowhere/records.sqlite cannot be opened: the disk is full")
        let failing: [(ErrorCode, BridgeError)] = [
            ("storage.failed", try #require(throws: BridgeError.self) { _ = try missing.openReader() }),
            ("storage.full", full),
        ]
        for (code, failure) in failing {
            var connection = KeptConnection(log: { line in log.withLock { $0.append(line) } }) {
                () throws(BridgeError) in throw failure
            }
            let error = try #require(throws: BridgeError.self) { _ = try connection.usable() }
            #expect(error.code == code)
            #expect(!error.message.contains("nowhere"))
            #expect(log.withLock { $0.last?.contains("/nowhere/") } == true)
        }
        let error = try #require(throws: BridgeError.self) { _ = try missing.openSource() }
        #expect(!error.message.contains("nowhere"))
    }

    @Test("The error of a transfer file does not contain its path")
    func transfers() throws {
        let file = TransferFile(id: 3, session: 1, path: "/nowhere/at/all/x")
        let error = try #require(throws: BridgeError.self) { try file.create() }
        #expect(error.message == "the copy cannot be created: the file system returns error 2")
    }

    @Test("The error of a database that cannot be replaced does not contain a path")
    func swaps() throws {
        let directory = try TestStore.makeDirectory()
        let swap = StoreSwap(
            database: StoreFile(path: directory + "/missing.sqlite"), replacement: directory + "/upload")
        let error = try #require(throws: BridgeError.self) { _ = try swap.carryOut() }
        #expect(!error.message.contains("/"))
    }
}
