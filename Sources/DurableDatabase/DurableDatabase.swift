// DurableDatabase: a SQLite database whose commits are on the disk when they return, and whose failed commits do not
// come back. The way in which it is opened, and what follows a failure of the storage, for the plugins that have one.
//
// Tables and the words of errors are the plugins' own.

import CSQLiteSetup
public import GRDB
import Glibc

/// The file of a database, and the one way in which it is opened to be written.
///
/// Safe on any thread; every method waits for the disk.
public struct DurableDatabase: Sendable {
    /// Why the file is not used, where SQLite has no error of its own for it.
    public enum Refusal: Error, Hashable {
        /// The disk has no room for the log's index.
        case noRoom
        /// There is no file, and it cannot be made.
        case notMade(errno: Int32)
        /// A newer version of the plugin wrote it.
        case newer
    }

    /// How long a statement waits for another process's lock. The daemon's lock on its state directory keeps a second
    /// daemon away; this is for an administrator who makes a backup, or uses `sqlite3`.
    public static let busyMode = Database.BusyMode.timeout(5)

    /// Done once, before the first connection. Where other code has opened one, it has no effect, and harms nothing.
    private static let setup: Void = { _ = csqlitesetup_allocate_pages_by_need() }()

    /// The file's path.
    public let path: String
    private let label: String
    private let pragmas: String

    /// - Parameters:
    ///   - path: With a directory in it.
    ///   - label: The connection's name in a debugger.
    ///   - pragmas: Statements for each connection that is opened, beside those for durability.
    public init(path: String, label: String, pragmas: String) {
        (self.path, self.label, self.pragmas) = (path, label, pragmas)
    }

    /// Opens the file, and makes it where there is none.
    ///
    /// - Throws: `Refusal`, `DatabaseError`.
    public func open() throws -> DatabaseQueue {
        if MappedRoom.isMissing(beside: path) { throw Refusal.noRoom }
        try makeFile()
        return try openBesideAnother()
    }

    /// Opens the file while this process has it open: the log's index has its room already.
    ///
    /// - Throws: `DatabaseError`.
    public func openBesideAnother() throws -> DatabaseQueue {
        Self.setup
        var configuration = Configuration()
        configuration.label = label
        configuration.busyMode = Self.busyMode
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { [pragmas] database in
            // Not by `configuration.journalMode`, with which GRDB lowers `synchronous` after this.
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; " + pragmas)
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Brings the tables up to date.
    ///
    /// - Throws: `Refusal.newer`, `DatabaseError`.
    public func migrate(_ queue: DatabaseQueue, by migrator: DatabaseMigrator) throws {
        if try queue.inDatabase(migrator.hasBeenSuperseded) { throw Refusal.newer }
        try migrator.migrate(queue)
    }

    /// Creates the file if it does not exist, readable to its owner alone. SQLite gives its companion files that mode.
    ///
    /// One that exists is not touched: closing it would take this process's locks on it away from the connections that
    /// have it open.
    private func makeFile() throws(Refusal) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) } else if errno != EEXIST { throw .notMade(errno: errno) }
    }
}

extension Database {
    /// Rolls back, and makes sure that the failed transaction cannot come back: where only the last `fsync` failed, its
    /// pages and its commit mark are in the log already, and the next program that opens the database would take them
    /// for committed. A small transaction writes over their beginning, whether it gets through or not.
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
    /// The disk has no room. The second code is that of the log's index.
    public var isFull: Bool { resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE }
}
