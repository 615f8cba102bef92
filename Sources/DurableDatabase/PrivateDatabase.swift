public import GRDB
import Glibc

/// A durable database that only its owner may read, and whose errors are messages for the operator.
///
/// Any thread. Every method waits for the disk.
public struct PrivateDatabase: Sendable {
    private let database: DurableDatabase
    private let contents: String
    private let migrator: @Sendable () -> DatabaseMigrator

    /// The file's path.
    public var path: String { database.path }

    /// - Parameters:
    ///   - path: The path, which must include a directory.
    ///   - contents: The contents of the file, as the subject of a message: `the accounts`.
    ///   - label: The connection's name in a debugger.
    ///   - migrator: Returns the migrations that create the tables.
    public init(
        path: String, contents: String, label: String, migrator: @escaping @Sendable () -> DatabaseMigrator
    ) {
        database = DurableDatabase(path: path, label: label, pragmas: "PRAGMA secure_delete = ON")
        (self.contents, self.migrator) = (contents, migrator)
    }

    /// Opens the file, creates it if it does not exist, and migrates its tables.
    ///
    /// - Returns: The connection, which is opened again after a failure.
    public func open() throws(DatabaseFailure) -> ReopenableConnection<DatabaseQueue, DatabaseFailure> {
        // Not through a descriptor: closing one would drop the locks of other code that has the file open in this
        // process.
        if chmod(path, 0o600) != 0, errno != ENOENT {
            throw DatabaseFailure("\(contents) in \(path) cannot be made private", errno: errno)
        }
        return try explaining {
            let queue = try database.open()
            try database.migrate(queue, by: migrator())
            return ReopenableConnection(queue) { _ throws(DatabaseFailure) in try explaining { try database.open() } }
        }
    }

    /// Returns the connection that replaces a failed one, which is still open; `nil` if it cannot be opened.
    public func next(after failed: DatabaseQueue) -> DatabaseQueue? {
        failed.inDatabase { $0.abandonFailedCommit() }
        return try? database.openBesideAnother()
    }

    /// Calls `body`, which uses the file, and converts its errors.
    ///
    /// - Throws: The error of `body`, as a message for the operator.
    public func explaining<T>(_ body: () throws -> T) throws(DatabaseFailure) -> T {
        do {
            return try body()
        } catch {
            throw error as? DatabaseFailure ?? DatabaseFailure(error, "\(contents) in \(path)")
        }
    }
}
