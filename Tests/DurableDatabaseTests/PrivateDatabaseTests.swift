import DurableDatabase
import GRDB
import Glibc
import TestSupport
import Testing

@Suite("A database that only its owner may read")
struct PrivateDatabaseTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("notes.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func database(_ path: String? = nil) -> PrivateDatabase {
        PrivateDatabase(path: path ?? self.path, contents: "the notes", label: "notes") {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("1") { try $0.execute(sql: "CREATE TABLE note (text TEXT NOT NULL)") }
            return migrator
        }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("is created with its tables, and its companion files have mode 0600 too")
    func made() throws {
        var connection = try database().open()
        let queue = try connection.usable()
        try queue.write { try $0.execute(sql: "INSERT INTO note VALUES ('a')") }
        #expect(mode(path) == 0o600)
        #expect(mode(path + "-wal") == 0o600)
        try connection.take()?.close()
    }

    @Test("gets mode 0600 if it had another mode")
    func madePrivate() throws {
        var connection = try database().open()
        try connection.take()?.close()
        #expect(chmod(path, 0o644) == 0)
        connection = try database().open()
        #expect(mode(path) == 0o600)
        try connection.take()?.close()
    }

    @Test("that cannot be opened is refused with an error that names its contents and its path")
    func refused() throws {
        var connection = try database().open()
        try connection.usable().write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of the future')") }
        try connection.take()?.close()
        let text = "this is no database, but long enough to be taken for one"
        let other = try folder.write(text, to: "other")
        for (path, reason) in [
            (path, "cannot be used: a newer version of the plugin wrote the file"),
            (other, "cannot be used: file is not a database (SQLite's code 26)"),
            (folder.file("absent/notes.sqlite"), "cannot be created: No such file or directory"),
        ] {
            let failure = #expect(throws: DatabaseFailure.self) { _ = try database(path).open() }
            #expect(failure?.description == "the notes in \(path) \(reason)")
            #expect(failure?.isFull == false)
        }
        #expect(contents(of: other) == text)
    }

    @Test("whose statement fails reports the reason without the values, and whether the disk is full")
    func failed() throws {
        let database = database()
        var connection = try database.open()
        let queue = try connection.usable()
        let pages = try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
        let full = #expect(throws: DatabaseFailure.self) {
            try database.explaining {
                try queue.write {
                    try $0.execute(sql: "PRAGMA max_page_count = \(pages)")
                    try $0.execute(sql: "INSERT INTO note VALUES (?)", arguments: [String(repeating: "x", count: 9999)])
                }
            }
        }
        #expect(full?.isFull == true)
        #expect(full?.description == "the notes in \(path) cannot be used: the disk is full (SQLite's code 13)")
        let missing = #expect(throws: DatabaseFailure.self) {
            try database.explaining {
                try queue.write { try $0.execute(sql: "INSERT INTO note VALUES (?)", arguments: [nil as String?]) }
            }
        }
        #expect(missing?.isFull == false)
        #expect(missing?.description.contains("NOT NULL constraint failed: note.text") == true)
        try connection.take()?.close()
    }
}
