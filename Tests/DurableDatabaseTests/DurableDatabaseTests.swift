import GRDB
import Glibc
import TestSupport
import Testing

@testable import DurableDatabase

@Suite("A durable database")
struct DurableDatabaseTests {
    private let folder: TemporaryFolder
    private let database: DurableDatabase

    init() throws {
        folder = try TemporaryFolder()
        database = DurableDatabase(path: folder.file("a.sqlite"), label: "test", pragmas: "PRAGMA temp_store = MEMORY")
    }

    private func mode(_ name: String) -> mode_t? {
        var status = stat()
        return stat(folder.file(name), &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test("Every connection has WAL mode, full synchronisation, foreign keys, and the plugin's pragmas")
    func settings() throws {
        for queue in [try database.open(), try database.openBesideAnother()] {
            try queue.inDatabase { database throws in
                #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal")
                #expect(try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2)
                #expect(try Int.fetchOne(database, sql: "PRAGMA foreign_keys") == 1)
                #expect(try Int.fetchOne(database, sql: "PRAGMA busy_timeout") == 5000)
                #expect(try Int.fetchOne(database, sql: "PRAGMA temp_store") == 2)
            }
        }
    }

    @Test("New files have mode 0600, and an existing file keeps its mode")
    func modes() throws {
        let queue = try database.open()
        try queue.inDatabase { try $0.execute(sql: "CREATE TABLE t (a)") }
        for name in ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm"] { #expect(mode(name) == 0o600, "\(name)") }
        try queue.close()
        chmod(database.path, 0o640)
        try database.open().close()
        #expect(mode("a.sqlite") == 0o640)
    }

    @Test("If the file cannot be created, the refusal contains the system's error")
    func noDirectory() {
        let database = DurableDatabase(path: folder.file("missing/a.sqlite"), label: "test", pragmas: "")
        #expect(throws: DurableDatabase.Refusal.notMade(errno: ENOENT)) { try database.open() }
    }

    @Test("There is no room for the log's index if blocks are smaller than a memory page and too few are free")
    func room() {
        var system = statvfs()
        system.f_frsize = 1024
        system.f_bavail = UInt(MappedRoom.neededBytes) / 1024
        #expect(!MappedRoom.isMissing(system))
        system.f_bavail -= 1
        #expect(MappedRoom.isMissing(system))
        system.f_bfree = 1 << 20
        #expect(MappedRoom.isMissing(system), "what is kept for root does not count")
        system.f_frsize = 4096
        #expect(!MappedRoom.isMissing(system))
        #expect(!MappedRoom.isMissing(beside: folder.file("missing/a.sqlite")))
    }

    @Test("Tables are migrated, and a file of a newer version is refused and left unchanged")
    func versions() throws {
        var (old, new) = (DatabaseMigrator(), DatabaseMigrator())
        old.registerMigration("first") { try $0.execute(sql: "CREATE TABLE t (a)") }
        new.registerMigration("first") { try $0.execute(sql: "CREATE TABLE t (a)") }
        new.registerMigration("second") { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
        let queue = try database.open()
        for migrator in [old, new, new] { try database.migrate(queue, by: migrator) }
        #expect(throws: DurableDatabase.Refusal.newer) { try database.migrate(queue, by: old) }
        #expect(try queue.inDatabase { try $0.columns(in: "t").map(\.name) } == ["a", "b"])
    }

    @Test("Only SQLITE_FULL and SQLITE_IOERR_SHMSIZE mean a full disk")
    func fullDisk() {
        let codes: [ResultCode] = [
            .SQLITE_FULL, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR, .SQLITE_NOMEM,
        ]
        #expect(codes.map { DatabaseError(resultCode: $0).isFull } == [true, true, false, false, false])
    }
}
