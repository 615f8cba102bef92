import Glibc
import TaskKit

extension ErrorCode {
    /// An upload or download that the session does not have.
    static let transferNotFound: ErrorCode = "transfer.not_found"
    /// What was uploaded is not what it has to be.
    static let backupInvalid: ErrorCode = "backup.invalid"
}

extension BridgeError {
    static func noTransfer(_ direction: TransferFile.Direction, _ id: UInt64) -> BridgeError {
        BridgeError(
            .transferNotFound, "this session has no \(direction.rawValue) \(id): it has ended, or never was",
            data: [direction.rawValue: .number(JSONNumber(id))])
    }

    static var tooManyTransfers: BridgeError {
        BridgeError(
            .busy, "\(Limits.transfers) copies of the store travel already: wait until one of them has ended",
            isTransient: true, retryAfter: .seconds(1))
    }

    /// What a failure of the file system means to a caller: no path, and no word of the system's.
    ///
    /// - Parameter what: The beginning of a sentence: "the file of upload 3 cannot be written".
    init(systemCode code: Int32, _ what: String) {
        let isFull = code == ENOSPC || code == EDQUOT
        self.init(
            isFull ? .storageFull : .storageFailed,
            "\(what): " + (isFull ? "the disk is full" : "the file system answers error \(code)"), isTransient: isFull
        )
    }

    /// An upload that is not what it has to be. Nothing was changed.
    static func unfitUpload(_ reason: String) -> BridgeError {
        BridgeError(.backupInvalid, "the file cannot be used: \(reason); nothing was changed")
    }

    /// A line of an upload that does not fit.
    static func unfitLine(_ line: Int, path: String = "$", expected: String, got: String) -> BridgeError {
        BridgeError(
            .backupInvalid, "line \(line): \(path): expected \(expected), got \(got)",
            data: [
                "line": .number(JSONNumber(line)), "path": .string(path), "expected": .string(expected),
                "got": .string(got),
            ])
    }
}
