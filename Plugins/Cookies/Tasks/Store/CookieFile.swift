import DurableDatabase
import GRDB
import Glibc
import TaskKit

/// The file of the cookies, which only its owner may read.
struct CookieFile: Sendable {
    private let database: DurableDatabase
    var path: String { database.path }

    init(path: String) {
        database = DurableDatabase(path: path, label: "cookies", pragmas: "PRAGMA secure_delete = ON")
    }

    /// Opens the file, makes it where there is none, and brings its tables up to date.
    ///
    /// - Throws: `storage.full`, `storage.failed`, with a sentence for the operator.
    func open() throws(BridgeError) -> ReopenableConnection<DatabaseQueue, BridgeError> {
        // Not by a descriptor: closing one would drop the locks of other code that has the file open in this process.
        if chmod(path, 0o600) != 0, errno != ENOENT {
            let reason = String(cString: strerror(errno))
            throw BridgeError(.storageFailed, "the cookies in \(path) cannot be made private: \(reason)")
        }
        return try explaining {
            let queue = try database.open()
            try database.migrate(queue, by: CookieSchema.migrator)
            return ReopenableConnection(queue) { _ throws(BridgeError) in try explaining { try database.open() } }
        }
    }

    /// The connection that follows one that failed and is still open; nil: it cannot be opened.
    func next(after failed: DatabaseQueue) -> DatabaseQueue? {
        failed.inDatabase { $0.abandonFailedCommit() }
        return try? database.openBesideAnother()
    }

    /// Does something with the file, with errors as sentences for the operator.
    func explaining<T>(_ body: () throws -> T) throws(BridgeError) -> T {
        do {
            return try body()
        } catch {
            throw explained(error)
        }
    }

    private func explained(_ error: any Error) -> BridgeError {
        let opening = "the cookies in \(path) cannot be used: "
        switch error {
        case let error as BridgeError: return error
        case DurableDatabase.Refusal.noRoom: return .diskFull(opening + "the disk is full")
        case DurableDatabase.Refusal.notMade(let code):
            return BridgeError(.storageFailed, opening + String(cString: strerror(code)))
        case DurableDatabase.Refusal.newer:
            return BridgeError(.storageFailed, opening + "a newer version of the plugin wrote them")
        case let error as DatabaseError where error.isFull: return .diskFull(opening + "the disk is full")
        case let error as DatabaseError:
            // SQLite's own sentence, without the statement: it holds what was to be written.
            let sentence = error.message ?? error.resultCode.description
            return BridgeError(
                .storageFailed, opening + "\(sentence) (SQLite's code \(error.extendedResultCode.rawValue))")
        default: return BridgeError(.storageFailed, opening + "\(error)")
        }
    }
}
