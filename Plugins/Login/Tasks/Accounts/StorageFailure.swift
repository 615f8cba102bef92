import GRDB
import Glibc

/// Why the accounts could not be read or written.
struct StorageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no room left on the disk: the same may succeed later.
    let isFull: Bool

    /// What happened and to which file, as the end of a sentence.
    let description: String

    init(_ description: String, isFull: Bool = false) {
        self.description = description
        self.isFull = isFull
    }

    /// - Parameter path: The file of the database.
    init(_ error: DatabaseError, path: String) {
        // The last is said where there was no room for the log's index.
        let isFull = error.resultCode == .SQLITE_FULL || error.extendedResultCode == .SQLITE_IOERR_SHMSIZE
        // SQLite's own sentence, without the statement: what was to be written is nobody's business.
        let sentence = isFull ? "the disk is full" : error.message ?? error.resultCode.description
        self.init(
            "the accounts in \(path) cannot be used: \(sentence) (SQLite's code \(error.extendedResultCode.rawValue))",
            isFull: isFull)
    }

    /// A system call on the file failed.
    init(operation: String, path: String, errno code: Int32) {
        self.init("\(operation) \(path): \(String(cString: strerror(code)))", isFull: code == ENOSPC || code == EDQUOT)
    }
}
