// DurableDatabase: an SQLite database whose commits are on the disk when they return, and whose failed commits do not
// reappear. It defines for the plugins how a database is opened, and how a failure of the storage is handled.
//
// The plugins define the tables and the texts of errors.

import CSQLiteSetup
public import GRDB
import Glibc

/// The file of a database, and the methods that open it for writing.
///
/// Any thread. Every method waits for the disk.
public struct DurableDatabase: Sendable {
    /// The reasons to refuse the file for which SQLite has no error.
    public enum Refusal: Error, Hashable {
        /// The disk has no space for the log's index.
        case noRoom
        /// The file does not exist, and cannot be created.
        case notMade(errno: Int32)
        /// A newer version of the plugin wrote it.
        case newer
    }

    /// The time for which a statement waits for another process's lock. The daemon's lock on its state directory
    /// prevents a second daemon. This is for an administrator who makes a backup, or uses `sqlite3`.
    public static let busyMode = Database.BusyMode.timeout(5)

    /// The setup of SQLite, done once, before the first connection. If other code has opened one before, it has no
    /// effect and does no harm.
    private static let setup: Void = { _ = csqlitesetup_allocate_pages_on_demand() }()

    /// The file's path.
    public let path: String
    private let label: String
    private let pragmas: String

    /// - Parameters:
    ///   - path: The path, which must include a directory.
    ///   - label: The connection's name in a debugger.
    ///   - pragmas: Statements for each new connection, in addition to those for durability.
    public init(path: String, label: String, pragmas: String) {
        (self.path, self.label, self.pragmas) = (path, label, pragmas)
    }

    /// Opens the file, and creates it if it does not exist.
    ///
    /// - Throws: `Refusal`, `DatabaseError`.
    public func open() throws -> DatabaseQueue {
        if MappedRoom.isMissing(beside: path) { throw Refusal.noRoom }
        try makeFile()
        return try openBesideAnother()
    }

    /// Opens the file while this process has it open: the space for the log's index exists already.
    ///
    /// - Throws: `DatabaseError`.
    public func openBesideAnother() throws -> DatabaseQueue {
        Self.setup
        var configuration = Configuration()
        configuration.label = label
        configuration.busyMode = Self.busyMode
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { [pragmas] database in
            // Not through `configuration.journalMode`: with it GRDB lowers `synchronous` after this.
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; " + pragmas)
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Migrates the tables to the current version.
    ///
    /// - Throws: `Refusal.newer`, `DatabaseError`.
    public func migrate(_ queue: DatabaseQueue, by migrator: DatabaseMigrator) throws {
        if try queue.inDatabase(migrator.hasBeenSuperseded) { throw Refusal.newer }
        try migrator.migrate(queue)
    }

    /// Creates the file if it does not exist, readable only by its owner. SQLite gives its companion files that mode.
    ///
    /// An existing file is not opened: closing it would release this process's locks on it, which the open connections
    /// need.
    private func makeFile() throws(Refusal) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) } else if errno != EEXIST { throw .notMade(errno: errno) }
    }
}

extension Database {
    /// Rolls back, and ensures that the failed transaction cannot reappear. If only the last `fsync` failed, its pages
    /// and its commit mark are in the log already, and the next program that opens the database would treat them as
    /// committed. A small transaction overwrites their beginning, whether it succeeds or not.
    public func abandonFailedCommit() {
        try? rollback()
        try? inTransaction(.immediate) {
            let count = try Int32.fetchOne(self, sql: "PRAGMA user_version") ?? 0
            try execute(sql: "PRAGMA user_version = \(count &+ 1)")
            return .commit
        }
    }
}

extension DatabaseError {
    /// Whether the disk is full. The second code is that of the log's index.
    public var isFull: Bool { resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE }
}
