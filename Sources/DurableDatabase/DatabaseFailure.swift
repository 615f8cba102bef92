import GRDB
import Glibc

/// The reason why a database could not be read or written: a message for the operator, which names the file.
public struct DatabaseFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Whether the disk is full. The same operation may succeed later.
    public let isFull: Bool
    /// The message: the failure and the file.
    public let description: String

    /// - Parameters:
    ///   - description: The message, which names the file.
    ///   - isFull: Whether the disk is full.
    public init(_ description: String, isFull: Bool = false) {
        (self.description, self.isFull) = (description, isFull)
    }

    /// - Parameters:
    ///   - error: The error that a method of `DurableDatabase` or of GRDB threw.
    ///   - subject: The subject of the message, with the path of the file.
    init(_ error: any Error, _ subject: String) {
        let opening = "\(subject) cannot be used: "
        switch error {
        case DurableDatabase.Refusal.noRoom: self.init(opening + "the disk is full", isFull: true)
        case DurableDatabase.Refusal.notMade(let code): self.init("\(subject) cannot be created", errno: code)
        case DurableDatabase.Refusal.newer: self.init(opening + "a newer version of the plugin wrote the file")
        case let error as DatabaseError:
            // SQLite's own message, without the statement, which contains the written data.
            let sentence = error.isFull ? "the disk is full" : error.message ?? error.resultCode.description
            self.init(
                opening + "\(sentence) (SQLite's code \(error.extendedResultCode.rawValue))", isFull: error.isFull)
        default: self.init(opening + "\(error)")
        }
    }

    /// Creates the failure of a system call.
    init(_ opening: String, errno code: Int32) {
        self.init("\(opening): \(String(cString: strerror(code)))", isFull: code == ENOSPC || code == EDQUOT)
    }
}
