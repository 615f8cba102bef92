import DurableDatabase
import GRDB
import Glibc
import TaskKit

/// The database file, and the methods that open it.
struct StoreFile: Sendable {
    /// An absolute path in the directory for the files of plugins.
    let path: String

    var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) }
    var name: String { String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...]) }

    private var database: DurableDatabase {
        // The data for a rollback is kept in memory, not in a temporary file. The bytes that one call may change limit
        // it.
        DurableDatabase(path: path, label: "persistence", pragmas: "PRAGMA temp_store = MEMORY")
    }

    /// Opens the file, creates it if it does not exist, and verifies the settings of SQLite that make acknowledged
    /// writes durable.
    ///
    /// - Parameter integrityCheck: Interrupts the check of the whole file; `nil` for no check.
    /// - Returns: The database, and whether all of it was checked.
    /// - Throws: `storage.failed` with a message for the operator, `storage.full`.
    func open(integrityCheck: Interruption?) throws(BridgeError) -> (queue: DatabaseQueue, isChecked: Bool) {
        do {
            let queue = try database.open()
            do {
                try queue.inDatabase(verifySettings)
                let isChecked = try integrityCheck.map { try checkIntegrity(queue, $0) } ?? false
                try database.migrate(queue, by: Schema.migrator)
                return (queue, isChecked)
            } catch {
                try? queue.close()
                throw error
            }
        } catch {
            throw explained(error)
        }
    }

    /// The result of a check. Errors are messages for the operator.
    enum Finding {
        case sound
        case interrupted
        case damaged(BridgeError)
        /// The disk could not be read, or there was no memory.
        case unknown(BridgeError)
    }

    /// Checks the whole file on its own connection. The time is not limited.
    func checkIntegrity(_ interruption: Interruption) -> Finding {
        do {
            let queue = try openReader()
            defer { try? queue.close() }
            return try checkIntegrity(queue, interruption) ? .sound : .interrupted
        } catch let error as Damage {
            return .damaged(damaged(error.finding))
        } catch let error as DatabaseError where Self.codesOfDamage.contains(error.resultCode) {
            return .damaged(explained(error))
        } catch {
            return .unknown(explained(error))
        }
    }

    /// The size of the database on the disk, including its log.
    var sizeBytes: Int { Self.length(path) + logBytes }

    /// The size of its log.
    var logBytes: Int { Self.length(path + "-wal") }

    private static func length(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Opens another connection to the file, which `open` has created: it reads committed data, in parallel with the
    /// writing connection.
    ///
    /// - Parameter keepsTransactions: Whether a transaction may stay open between two accesses.
    /// - Throws: `storage.failed` with a message for the operator.
    func openReader(keepsTransactions: Bool = false) throws(BridgeError) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = keepsTransactions
        configuration.label = "persistence.read"
        configuration.busyMode = DurableDatabase.busyMode
        configuration.readonly = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = \(-Self.readerCacheKibibytes)")
        }
        do {
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw explained(error)
        }
    }

    /// Opens a connection for a copy. The errors are for the caller that requested the copy.
    ///
    /// - Throws: `storage.failed`, `storage.full`.
    func openSource() throws(BridgeError) -> DatabaseQueue {
        do { return try openReader() } catch { throw error.withoutDetails }
    }

    /// The maximum memory of a reader for pages of the file. It is used only as far as the reader reads. It is half of
    /// the writing connection's (SQLite's default, 2 MiB), because the system keeps the file in memory as well.
    private static let readerCacheKibibytes = 1024

    /// Reads the settings back: SQLite silently ignores settings that it does not support.
    private func verifySettings(_ database: Database) throws {
        let expected = [
            ("journal_mode", "wal".databaseValue),
            ("synchronous", 2.databaseValue),
            ("foreign_keys", 1.databaseValue),
        ]
        for (name, value) in expected {
            let found = try DatabaseValue.fetchOne(database, sql: "PRAGMA \(name)")
            guard found == value else {
                throw BridgeError(
                    .storageFailed,
                    "the database \(path) cannot be used: SQLite returns \(found ?? .null) for \(name), not \(value)")
            }
        }
    }

    private func checkIntegrity(_ queue: DatabaseQueue, _ interruption: Interruption) throws -> Bool {
        do {
            try interruption.during(queue, checkIntegrity)
            return true
        } catch let error as BridgeError where error.code == .callCancelled {
            return false
        }
    }

    private func checkIntegrity(_ database: Database) throws {
        let found = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "nothing"
        if found != "ok" { throw Damage(finding: found) }
        // SQLite does not check the content of a long record beyond its first page. If it was zeroed, it is not valid
        // JSON.
        guard try database.tableExists("record") else { return }
        let key = try DatabaseValue.fetchOne(database, sql: "SELECT key FROM record WHERE NOT json_valid(body) LIMIT 1")
        if key != nil { throw Damage(finding: "a record is not valid JSON") }
    }

    /// The damage that a check has found.
    private struct Damage: Error {
        var finding: String
    }

    private static let codesOfDamage: [ResultCode] = [.SQLITE_CORRUPT, .SQLITE_NOTADB]

    private func damaged(_ finding: String) -> BridgeError {
        BridgeError(
            .storageFailed,
            "the database \(path) is damaged (\(finding)) and was left as it is: "
                + "move it and its -wal file away to begin with an empty one, or restore a copy")
    }

    private func explained(_ error: any Error) -> BridgeError {
        let opening = "the database \(path) cannot be opened: "
        switch error {
        case DurableDatabase.Refusal.noRoom:
            return BridgeError(.storageFull, opening + "the disk is full", isTransient: true)
        case DurableDatabase.Refusal.notMade(let code):
            return BridgeError(.storageFailed, opening + String(cString: strerror(code)))
        case DurableDatabase.Refusal.newer:
            return BridgeError(
                .storageFailed,
                "the database \(path) was made by a newer version of this plugin, and only that version can read it")
        case let damage as Damage:
            return damaged(damage.finding)
        case let error as DatabaseError where Self.codesOfDamage.contains(error.resultCode):
            return damaged("\(error.extendedResultCode)")
        case let error as DatabaseError where !error.isFull:
            return BridgeError(.storageFailed, opening + "\(error.extendedResultCode)")
        default:
            return BridgeError(storage: error)
        }
    }
}
