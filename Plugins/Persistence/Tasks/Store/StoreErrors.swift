import DurableDatabase
import GRDB
import TaskKit

extension ErrorCode {
    /// The record does not exist.
    static let recordNotFound: ErrorCode = "record.not_found"
    /// A record with this key exists.
    static let recordExists: ErrorCode = "record.exists"
    /// The record has another version than the caller expects.
    static let recordConflict: ErrorCode = "record.conflict"
    /// The call would read and write more bytes of records than one call may.
    static let transactionTooLarge: ErrorCode = "transaction.too_large"
    /// The feed no longer contains the changes since the requested version.
    static let cursorExpired: ErrorCode = "cursor.expired"
    /// The disk is full.
    static let storageFull: ErrorCode = "storage.full"
    /// The database could not be read or written.
    static let storageFailed: ErrorCode = "storage.failed"
}

extension BridgeError {
    /// The error for an invalid option at a JSON path such as `$.record`.
    static func unfit(_ path: String, expected: String, got: String) -> BridgeError {
        BridgeError(
            .optionsInvalid, "\(path): expected \(expected); got \(got)",
            data: ["path": .string(path), "expected": .string(expected), "got": .string(got)])
    }

    /// The error for a call whose caller no longer waits for the answer. Nothing was done.
    static var cancelled: BridgeError {
        BridgeError(.callCancelled, "the call was cancelled", data: ["started": false])
    }

    static func recordNotFound(_ key: ExactText) -> BridgeError {
        BridgeError(.recordNotFound, "there is no record with this key", data: ["key": .string(key.text)])
    }

    /// - Parameter version: The version that the record has.
    static func recordExists(_ key: ExactText, version: Int64) -> BridgeError {
        BridgeError(
            .recordExists, "a record with this key exists already",
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
    ///   - since: The requested version.
    ///   - oldest: The oldest version from which changes can still be sent.
    ///   - version: The namespace's current version.
    static func cursorExpired(since: Int64, oldest: Int64, version: Int64) -> BridgeError {
        BridgeError(
            .cursorExpired,
            "changes are kept from version \(oldest) on, not from \(since): read the table again, then watch",
            data: ["since": JSON(since), "oldest": JSON(oldest), "version": JSON(version)])
    }

    /// The error for callers if this one has a message for the operator, which is in the log. It contains no path and
    /// no message of the system.
    var withoutDetails: BridgeError {
        if code == .storageFull { return BridgeError(.storageFull, "the disk is full", isTransient: true) }
        return BridgeError(
            code, "the database cannot be used: see the daemon's log", isTransient: isTransient)
    }

    /// The error for callers while the database is known to be damaged.
    static var storeDamaged: BridgeError {
        BridgeError(
            .storageFailed, "the database is damaged, and no call is processed: see the daemon's log")
    }

    /// Creates the caller's error for a failure of the database. It contains no content of records.
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
