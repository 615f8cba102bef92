import struct Foundation.Data
import GRDB
import Glibc
import TaskKit

/// A database that was checked to be a complete store of a version that this plugin reads, and was migrated to the
/// plugin's own version. Lane of copies.
struct RestorableStore {
    let path: String
    /// The number of records in it.
    let records: Int64

    /// Checks a database, and migrates it to the current version.
    ///
    /// - Parameter path: The path of the database, which no other code uses.
    /// - Throws: `backup.invalid` with the reason.
    init(checking path: String, _ interruption: Interruption) throws {
        self.path = path
        do {
            let queue = try Self.open(path)
            defer { try? queue.close() }
            try interruption.during(queue) { try Self.check($0) }
            try Schema.migrator.migrate(queue)
            records = try interruption.during(queue) { database in
                try interruption.check()
                // Earlier deletions are sent to no watcher: see `continueHistory`.
                try database.execute(sql: "DELETE FROM deletion; UPDATE namespace SET deletions = 0")
                // The stored sizes in the file cannot be trusted.
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
            // Any user may have created the file: no function in its schema is called, and every page is checked. The
            // database is replaced by a single file, without a log.
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
            throw BridgeError.unfitFile(
                "it was made by a newer version of this plugin, and only that version can read it")
        }
        guard let version = try Schema.migrator.appliedMigrations(database).last else { throw notAStore }
        let known = try DatabaseQueue()
        try Schema.migrator.migrate(known, upTo: version)
        // The schema must equal that of a store exactly: otherwise a trigger in it could change records that are stored
        // later.
        guard try tables(of: database) == known.inDatabase({ try tables(of: $0) }) else { throw notAStore }
        guard try Row.fetchOne(database, sql: "PRAGMA foreign_key_check") == nil else { throw inconsistency }
    }

    private static let notAStore = BridgeError.unfitFile("it is not a store of Trestle")
    private static let inconsistency = BridgeError.unfitFile("its tables are inconsistent")

    /// Returns the schema of a database, without SQLite's internal tables.
    private static func tables(of database: Database) throws -> [[DatabaseValue]] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT type, name, tbl_name, sql FROM sqlite_master
                WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
                """
        ).map { Array($0.databaseValues) }
    }

    /// Checks what the tables' constraints do not: versions, names, and the JSON of every record. Returns the number of
    /// records.
    private static func checkContent(_ database: Database, _ interruption: Interruption) throws -> Int64 {
        let inconsistencies = """
            SELECT 1 FROM namespace WHERE uid NOT BETWEEN 0 AND 4294967295 OR version NOT BETWEEN 0 AND ?
            UNION ALL SELECT 1 FROM record
            JOIN collection ON collection.id = record.collection JOIN namespace ON namespace.id = collection.namespace
            WHERE record.version NOT BETWEEN 1 AND namespace.version OR created NOT BETWEEN 1 AND record.version
            UNION ALL SELECT 1 FROM (SELECT count(*) AS rows FROM failure) WHERE rows <> 1
            """
        let largest = Limits.largestVersion - Limits.versionsPerRestore
        guard try Row.fetchOne(database, sql: inconsistencies, arguments: [largest]) == nil else { throw inconsistency }
        let names = try Row.fetchCursor(
            database, sql: "SELECT origin, ? FROM namespace UNION ALL SELECT name, ? FROM collection",
            arguments: [Limits.originBytes, Limits.tableBytes])
        while let row = try names.next() {
            guard isName(try row.bytes(0), upTo: row[1]) else { throw inconsistency }
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

    /// Whether a text is a JSON object in one line: it is sent in messages, which are lines.
    private static func isRecord(_ body: Data) -> Bool {
        guard !body.contains(UInt8(ascii: "\n")), let json = try? body.withUnsafeBytes({ try JSON(parsing: $0) }) else {
            return false
        }
        return json.objectValue != nil
    }

    /// Converts an error that the file causes to one about the file.
    private static func explained(_ error: any Error) -> BridgeError {
        if let error = error as? BridgeError { return error }
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_NOTADB: return .unfitFile("it is not an SQLite database")
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

    /// Returns the current ends of a store's feeds.
    static func feedEnds(in database: Database) throws -> [FeedEnd] {
        try Row.fetchAll(database, sql: "SELECT uid, origin, version FROM namespace").map {
            FeedEnd(uid: $0[0], origin: $0[1], version: $0[2])
        }
    }

    /// Raises the versions above all that were assigned before, in this store or in a lost one. Earlier changes are no
    /// longer stored, so a watch from an earlier version receives `CursorExpired`.
    ///
    /// - Parameter present: The ends of the feeds of the store that this one replaces.
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
        try StoreSwap.synchronise(path, "the backup")
    }
}
