import DurableDatabase
import GRDB
import TaskKit

extension ErrorCode {
    /// The record does not exist.
    static let recordNotFound: ErrorCode = "record.not_found"
    /// A record of this key exists.
    static let recordExists: ErrorCode = "record.exists"
    /// The record has another version than the caller expects.
    static let recordConflict: ErrorCode = "record.conflict"
    /// The call would read and write more of records than one call may.
    static let transactionTooLarge: ErrorCode = "transaction.too_large"
    /// The feed no longer reaches back to the version that was asked for.
    static let cursorExpired: ErrorCode = "cursor.expired"
    /// The disk has no room.
    static let storageFull: ErrorCode = "storage.full"
    /// The database could not be read or written.
    static let storageFailed: ErrorCode = "storage.failed"
}

extension BridgeError {
    /// An option that does not fit, at a JSON path such as `$.record`.
    static func unfit(_ path: String, expected: String, got: String) -> BridgeError {
        BridgeError(
            .optionsInvalid, "\(path): expected \(expected), got \(got)",
            data: ["path": .string(path), "expected": .string(expected), "got": .string(got)])
    }

    /// No one waits for the answer any longer, and nothing was done.
    static var cancelled: BridgeError {
        BridgeError(.callCancelled, "the call was cancelled", data: ["started": false])
    }

    static func recordNotFound(_ key: ExactText) -> BridgeError {
        BridgeError(.recordNotFound, "there is no record of this key", data: ["key": .string(key.text)])
    }

    /// - Parameter version: The version that the record has.
    static func recordExists(_ key: ExactText, version: Int64) -> BridgeError {
        BridgeError(
            .recordExists, "a record of this key exists already",
            data: ["key": .string(key.text), "version": JSON(version)])
    }

    /// - Parameter version: The version that the record has.
    static func recordChanged(_ key: ExactText, version: Int64, expected: Int64) -> BridgeError {
        BridgeError(
            .recordConflict, "the record has changed: its version is \(version), not \(expected)",
            data: ["key": .string(key.text), "version": JSON(version)])
    }

    static var transactionTooLarge: BridgeError {
        BridgeError(
            .transactionTooLarge,
            "one call reads and writes at most \(Limits.touchedBytes) bytes of records that it changes, and nothing "
                + "was changed: send fewer operations at a time",
            data: ["limit": .number(JSONNumber(Limits.touchedBytes))])
    }

    /// - Parameters:
    ///   - since: What was asked for.
    ///   - oldest: The oldest version from which changes can still be sent.
    ///   - version: The namespace's present version.
    static func cursorExpired(since: Int64, oldest: Int64, version: Int64) -> BridgeError {
        BridgeError(
            .cursorExpired,
            "changes are kept from version \(oldest) on, not from \(since): read the table again, then watch",
            data: ["since": JSON(since), "oldest": JSON(oldest), "version": JSON(version)])
    }

    /// What callers get where this is a sentence for the operator, who finds it in the log: no path, and no word
    /// of the system's.
    var withoutDetails: BridgeError {
        if code == .storageFull { return BridgeError(.storageFull, "the disk is full", isTransient: true) }
        return BridgeError(
            code, "the database cannot be used: the daemon's log says why", isTransient: isTransient)
    }

    /// What callers get while the database is known to be damaged.
    static var storeDamaged: BridgeError {
        BridgeError(
            .storageFailed, "the database is damaged, and no call is carried out: the daemon's log says what to do")
    }

    /// What a failure of the database means to a caller: never a word of what the records hold.
    init(storage error: any Error) {
        if let error = error as? BridgeError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.storageFailed, "the store failed")
            return
        }
        if error.isFull {
            self.init(.storageFull, "nothing was stored: the disk is full", isTransient: true)
            return
        }
        let isTransient = [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM].contains(error.resultCode)
        self.init(.storageFailed, "the store failed: \(error.extendedResultCode)", isTransient: isTransient)
    }
}

extension JSON {
    init(_ number: Int64) { self = .number(JSONNumber(number)) }
}
