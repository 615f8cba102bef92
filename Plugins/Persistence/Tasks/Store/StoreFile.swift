import DurableDatabase
import GRDB
import Glibc
import TaskKit

/// The database file, and the one way in which it is opened.
struct StoreFile: Sendable {
    /// An absolute path in the plugin's state directory.
    let path: String

    var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) }
    var name: String { String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...]) }

    private var database: DurableDatabase {
        // What a transaction has to undo is kept in memory, as much as one call may touch, and not in a file elsewhere.
        DurableDatabase(path: path, label: "persistence", pragmas: "PRAGMA temp_store = MEMORY")
    }

    /// Opens the file, making it where there is none, and checks that SQLite really works in the way that the
    /// promise "acknowledged is durable" needs.
    ///
    /// - Parameter integrityCheck: Walks through the whole file, unless it is interrupted; nil: only what is read later
    ///   is checked.
    /// - Returns: The database, and whether all of it was checked.
    /// - Throws: `storage.failed` with a sentence for the operator, `storage.full`.
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

    /// What came of a check. Errors are sentences for the operator.
    enum Finding {
        case sound
        case interrupted
        case damaged(BridgeError)
        /// The disk would not be read, or there was no memory.
        case unknown(BridgeError)
    }

    /// Walks through the whole file, which takes as long as it takes, on a connection of its own.
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

    /// What the database takes on the disk, its log included.
    var sizeBytes: Int { Self.length(path) + logBytes }

    /// What its log takes.
    var logBytes: Int { Self.length(path + "-wal") }

    private static func length(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Opens the file, which `open` has made, once more: to read what is committed, beside the connection that writes.
    ///
    /// - Parameter keepsTransactions: A transaction may stay open between two accesses.
    /// - Throws: `storage.failed` with a sentence for the operator.
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

    /// The same for a copy, whose maker is notified.
    ///
    /// - Throws: `storage.failed`, `storage.full`.
    func openSource() throws(BridgeError) -> DatabaseQueue {
        do { return try openReader() } catch { throw error.withoutDetails }
    }

    /// What a reader keeps of the file in memory, at most; each of the two comes to it only when it has read so much.
    /// Half of what the writing connection takes (SQLite's own 2 MiB): the system keeps the file in memory as well.
    private static let readerCacheKibibytes = 1024

    /// Reads the settings back: SQLite takes what it does not support for a suggestion.
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
                    "the database \(path) cannot be used: SQLite answers \(found ?? .null) for \(name), not \(value)")
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
        // What a long record holds beyond its first page is not looked at by SQLite; zeros there are no JSON.
        guard try database.tableExists("record") else { return }
        let key = try DatabaseValue.fetchOne(database, sql: "SELECT key FROM record WHERE NOT json_valid(body) LIMIT 1")
        if key != nil { throw Damage(finding: "a record is no JSON") }
    }

    /// What a check has found.
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
                "the database \(path) was made by a newer version of this plugin, which alone can read it")
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
