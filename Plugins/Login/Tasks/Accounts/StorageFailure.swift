import DurableDatabase
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
    init(_ error: any Error, path: String) {
        switch error {
        case DurableDatabase.Refusal.noRoom:
            self.init("the accounts in \(path) cannot be used: the disk is full", isFull: true)
        case DurableDatabase.Refusal.notMade(let code):
            self.init(operation: "cannot create", path: path, errno: code)
        case DurableDatabase.Refusal.newer:
            self.init("the accounts in \(path) were written by a newer version of the login plugin")
        case let error as DatabaseError:
            // SQLite's own sentence, without the statement: it holds what was to be written.
            let sentence = error.isFull ? "the disk is full" : error.message ?? error.resultCode.description
            let code = error.extendedResultCode.rawValue
            self.init(
                "the accounts in \(path) cannot be used: \(sentence) (SQLite's code \(code))", isFull: error.isFull)
        default:
            self.init("the accounts in \(path) cannot be used: \(error)")
        }
    }

    /// A system call on the file failed.
    init(operation: String, path: String, errno code: Int32) {
        self.init("\(operation) \(path): \(String(cString: strerror(code)))", isFull: code == ENOSPC || code == EDQUOT)
    }
}
