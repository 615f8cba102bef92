import struct Foundation.Data
import GRDB
import Glibc
import TaskKit

/// A database that has been found to be a whole store, of a version that this plugin reads, and is now of its own. The
/// lane of copies.
struct RestorableStore {
    let path: String
    /// How many records it has.
    let records: Int64

    /// Checks a database, and brings it to the present version.
    ///
    /// - Parameter path: Whose it is alone.
    /// - Throws: `backup.invalid` with what is wrong with it.
    init(checking path: String, _ interruption: Interruption) throws {
        self.path = path
        do {
            let queue = try Self.open(path)
            defer { try? queue.close() }
            try interruption.during(queue) { try Self.check($0) }
            try Schema.migrator.migrate(queue)
            records = try interruption.during(queue) { database in
                try interruption.check()
                // What was deleted before is sent to no one: see `continueHistory`.
                try database.execute(sql: "DELETE FROM deletion; UPDATE namespace SET deletions = 0")
                // What it says of its own size is not to be trusted.
                try database.execute(sql: RecordStore.countingStored)
                return try Self.checkContent(database, interruption)
            }
        } catch {
            throw Self.explained(error)
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "persistence.restore"
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            // Any user may have made it: nothing in it is called, and every page of it is checked. One file, without a
            // log beside it, is what replaces the database.
            try database.execute(
                sql: """
                    PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
                    PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL
                    """)
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    // MARK: Checks

    private static func check(_ database: Database) throws {
        let finding = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") ?? "nothing"
        guard finding == "ok" else { throw BridgeError.unfitFile("it is damaged (\(finding))") }
        guard try database.tableExists("grdb_migrations") else { throw notAStore }
        guard try !Schema.migrator.hasBeenSuperseded(database) else {
            throw BridgeError.unfitFile("it was made by a newer version of this plugin, which alone can read it")
        }
        guard let version = try Schema.migrator.appliedMigrations(database).last else { throw notAStore }
        let known = try DatabaseQueue()
        try Schema.migrator.migrate(known, upTo: version)
        // Table by table what a store has and nothing else, or a trigger in it could change what is stored later.
        guard try tables(of: database) == known.inDatabase({ try tables(of: $0) }) else { throw notAStore }
        guard try Row.fetchOne(database, sql: "PRAGMA foreign_key_check") == nil else { throw contradiction }
    }

    private static let notAStore = BridgeError.unfitFile("it is no store of Trestle's")
    private static let contradiction = BridgeError.unfitFile("its tables contradict one another")

    /// What a database consists of, apart from what SQLite keeps for itself.
    private static func tables(of database: Database) throws -> [[DatabaseValue]] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT type, name, tbl_name, sql FROM sqlite_master
                WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
                """
        ).map { Array($0.databaseValues) }
    }

    /// Checks what the tables' own rules do not: versions, names, and that every record is one.
    private static func checkContent(_ database: Database, _ interruption: Interruption) throws -> Int64 {
        let contradictions = """
            SELECT 1 FROM namespace WHERE uid NOT BETWEEN 0 AND 4294967295 OR version NOT BETWEEN 0 AND ?
            UNION ALL SELECT 1 FROM record
            JOIN collection ON collection.id = record.collection JOIN namespace ON namespace.id = collection.namespace
            WHERE record.version NOT BETWEEN 1 AND namespace.version OR created NOT BETWEEN 1 AND record.version
            UNION ALL SELECT 1 FROM (SELECT count(*) AS rows FROM failure) WHERE rows <> 1
            """
        let largest = Limits.largestVersion - Limits.versionsPerRestore
        guard try Row.fetchOne(database, sql: contradictions, arguments: [largest]) == nil else { throw contradiction }
        let names = try Row.fetchCursor(
            database, sql: "SELECT origin, ? FROM namespace UNION ALL SELECT name, ? FROM collection",
            arguments: [Limits.originBytes, Limits.tableBytes])
        while let row = try names.next() {
            guard isName(try row.bytes(0), upTo: row[1]) else { throw contradiction }
        }
        let rows = try Row.fetchCursor(database, sql: "SELECT key, CAST(body AS BLOB) FROM record")
        var count: Int64 = 0
        while let row = try rows.next() {
            count += 1
            let isSound = try row.withUnsafeData(atIndex: 1) { isRecord($0 ?? Data()) }
            guard isSound, isName(try row.bytes(0), upTo: Limits.keyBytes) else {
                throw BridgeError.unfitFile("record \(count) in it is damaged")
            }
        }
        return count
    }

    private static func isName(_ bytes: [UInt8], upTo maximum: Int) -> Bool {
        (1...maximum).contains(bytes.count) && String(validating: bytes, as: UTF8.self) != nil
    }

    /// Whether a text is an object, and in one line: it travels in messages, which are lines.
    private static func isRecord(_ body: Data) -> Bool {
        guard !body.contains(UInt8(ascii: "\n")), let json = try? body.withUnsafeBytes({ try JSON(parsing: $0) }) else {
            return false
        }
        return json.objectValue != nil
    }

    /// An error about the file, where the file is at fault.
    private static func explained(_ error: any Error) -> BridgeError {
        if let error = error as? BridgeError { return error }
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_NOTADB: return .unfitFile("it is no database of SQLite's")
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_CANTOPEN: return BridgeError(storage: error)
        case .SQLITE_INTERRUPT: return .cancelled
        case let code?: return .unfitFile("it is damaged (\(code))")
        case nil: return notAStore
        }
    }

    // MARK: History

    /// A namespace and its version.
    struct FeedEnd: Sendable {
        var uid: Int64
        var origin: Data
        var version: Int64
    }

    /// Where the feeds of a store end at present.
    static func feedEnds(in database: Database) throws -> [FeedEnd] {
        try Row.fetchAll(database, sql: "SELECT uid, origin, version FROM namespace").map {
            FeedEnd(uid: $0[0], origin: $0[1], version: $0[2])
        }
    }

    /// Puts the versions ahead of all that were given out before: here, or by a store that is lost. Earlier changes are
    /// no longer known, so that a watch from an earlier version is notified.
    ///
    /// - Parameter present: Where the feeds of the store end that this one replaces.
    func continueHistory(from present: [FeedEnd]) throws {
        let queue = try Self.open(path)
        try queue.inDatabase { database in
            try database.inTransaction(.immediate) {
                for feed in present {
                    try database.execute(
                        sql: """
                            INSERT INTO namespace (uid, origin, version) VALUES (?, ?, ?)
                            ON CONFLICT DO UPDATE SET version = max(version, excluded.version)
                            """, arguments: [feed.uid, feed.origin, feed.version])
                }
                try database.execute(
                    sql: "UPDATE namespace SET version = version + ?1, pruned = version + ?1",
                    arguments: [Limits.versionsPerRestore])
                return .commit
            }
        }
        try queue.close()
        try StoreSwap.synchronise(path)
    }
}
