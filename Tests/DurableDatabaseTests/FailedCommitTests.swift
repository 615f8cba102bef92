import DiskTestSupport
import DurableDatabase
import GRDB
import TestSupport
import Testing

@Suite("A commit that fails")
struct FailedCommitTests {
    private let folder: TemporaryFolder
    private let disk: FaultyDisk
    private let database: DurableDatabase
    private let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        disk = FaultyDisk(directory: folder.path)
        database = DurableDatabase(path: folder.file("a.sqlite"), label: "test", pragmas: "")
        queue = try database.open()
        try queue.inDatabase { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('kept')") }
    }

    private func insert(_ text: String) throws {
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [text]) }
    }

    private func rows(_ queue: DatabaseQueue) throws -> [String] {
        try queue.inDatabase { try String.fetchAll($0, sql: "SELECT a FROM t") }
    }

    /// Returns the rows that a daemon finds after a crash at this moment: it has the files without the log's index.
    private func rowsAfterCrash() throws -> [String] {
        let copy = try TemporaryFolder()
        let files = ["a.sqlite", "a.sqlite-wal"].map { folder.file($0) }
        #expect(try SpawnedProcess("/bin/cp", files + [copy.path]).wait() == .exited(0))
        return try rows(DurableDatabase(path: copy.file("a.sqlite"), label: "test", pragmas: "").open())
    }

    @Test("whose fsync fails reappears after a crash, unless it is abandoned")
    func failedSync() throws {
        disk.set(.sync, true)
        #expect(throws: DatabaseError.self) { try insert("lost") }
        #expect(try rowsAfterCrash() == ["kept", "lost"], "nothing is shown by what follows, if this does not hold")
        queue.inDatabase { $0.abandonFailedCommit() }
        #expect(try rowsAfterCrash() == ["kept"])
        disk.set(.sync, false)
        let next = try database.openBesideAnother()
        try queue.close()
        #expect(try rows(next) == ["kept"])
    }

    @Test("does not reappear with a later commit, and the later one is kept")
    func laterCommit() throws {
        disk.set(.sync, true)
        #expect(throws: DatabaseError.self) { try insert("lost") }
        queue.inDatabase { $0.abandonFailedCommit() }
        disk.set(.sync, false)
        try insert("later")
        #expect(try rowsAfterCrash() == ["kept", "later"])
    }

    @Test("and leaves a transaction open is rolled back and releases the lock")
    func openTransaction() throws {
        queue.inDatabase { database in
            #expect(throws: DatabaseError.self) {
                try database.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES ('lost'); SELECT wrong")
            }
            database.abandonFailedCommit()
            #expect(!database.isInsideTransaction)
        }
        try database.openBesideAnother().inDatabase { try $0.execute(sql: "INSERT INTO t VALUES ('later')") }
        #expect(try rows(queue) == ["kept", "later"])
    }

    @Test("on a full disk is followed by a connection that reads, and writes when there is space")
    func fullDisk() throws {
        disk.set(.full, true)
        let error = try #require(throws: DatabaseError.self) { try insert("lost") }
        #expect(error.isFull)
        queue.inDatabase { $0.abandonFailedCommit() }
        let next = try database.openBesideAnother()
        try queue.close()
        #expect(try rows(next) == ["kept"])
        disk.set(.full, false)
        try next.inDatabase { try $0.execute(sql: "INSERT INTO t VALUES ('later')") }
        #expect(try rowsAfterCrash() == ["kept", "later"])
    }
}
