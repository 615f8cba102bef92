import GRDB
import Glibc

/// Why a database could not be read or written: a sentence for the operator, which names the file.
public struct DatabaseFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no room left on the disk: the same may succeed later.
    public let isFull: Bool
    /// What happened, and to which file.
    public let description: String

    /// - Parameters:
    ///   - description: What happened, and to which file.
    ///   - isFull: Whether there is no room left on the disk.
    public init(_ description: String, isFull: Bool = false) {
        (self.description, self.isFull) = (description, isFull)
    }

    /// - Parameters:
    ///   - error: What a method of `DurableDatabase` or of GRDB threw.
    ///   - subject: What cannot be used, and the path of its file.
    init(_ error: any Error, _ subject: String) {
        let opening = "\(subject) cannot be used: "
        switch error {
        case DurableDatabase.Refusal.noRoom: self.init(opening + "the disk is full", isFull: true)
        case DurableDatabase.Refusal.notMade(let code): self.init("\(subject) cannot be created", errno: code)
        case DurableDatabase.Refusal.newer: self.init(opening + "a newer version of the plugin wrote the file")
        case let error as DatabaseError:
            // SQLite's own sentence, without the statement: it holds what was to be written.
            let sentence = error.isFull ? "the disk is full" : error.message ?? error.resultCode.description
            self.init(
                opening + "\(sentence) (SQLite's code \(error.extendedResultCode.rawValue))", isFull: error.isFull)
        default: self.init(opening + "\(error)")
        }
    }

    /// A system call failed.
    init(_ opening: String, errno code: Int32) {
        self.init("\(opening): \(String(cString: strerror(code)))", isFull: code == ENOSPC || code == EDQUOT)
    }
}
