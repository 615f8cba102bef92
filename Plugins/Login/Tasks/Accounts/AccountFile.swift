import DurableDatabase
import GRDB
import Glibc

/// The file of the accounts, which only its owner may read.
struct AccountFile: Sendable {
    private let database: DurableDatabase
    var path: String { database.path }

    init(path: String) {
        database = DurableDatabase(path: path, label: "login", pragmas: "PRAGMA secure_delete = ON")
    }

    /// Opens the file, makes it where there is none, and brings its tables up to date.
    func open() throws(StorageFailure) -> ReopenableConnection<DatabaseQueue, StorageFailure> {
        // Not by a descriptor: closing one would drop the locks of other code that has the file open in this process.
        if chmod(path, 0o600) != 0, errno != ENOENT {
            throw StorageFailure(operation: "cannot make private", path: path, errno: errno)
        }
        return try explaining {
            let queue = try database.open()
            try database.migrate(queue, by: AccountSchema.migrator)
            return ReopenableConnection(queue) { _ throws(StorageFailure) in
                try explaining { try database.open() }
            }
        }
    }

    /// The connection that follows one that failed and is still open; nil: it cannot be opened.
    func next(after failed: DatabaseQueue) -> DatabaseQueue? {
        failed.inDatabase { $0.abandonFailedCommit() }
        return try? database.openBesideAnother()
    }

    /// Does something with the file, with errors as sentences.
    func explaining<T>(_ body: () throws -> T) throws(StorageFailure) -> T {
        do {
            return try body()
        } catch {
            throw error as? StorageFailure ?? StorageFailure(error, path: path)
        }
    }
}
