import Glibc
import TaskKit

extension ErrorCode {
    /// What was sent is not what it has to be.
    static let backupInvalid: ErrorCode = "backup.invalid"
}

extension BridgeError {
    static var tooManyTransfers: BridgeError {
        BridgeError(
            .busy, "\(Limits.transfers) copies of the store travel already: wait until one of them has ended",
            isTransient: true, retryAfter: .seconds(1))
    }

    /// Another program has changed the file.
    static var cutCopy: BridgeError {
        BridgeError(.storageFailed, "the copy cannot be read: its file was cut")
    }

    /// What a failure of the file system means to a caller: no path, and no word of the system's.
    ///
    /// - Parameter what: The beginning of a sentence: "the copy cannot be written".
    init(systemCode code: Int32, _ what: String) {
        let isFull = code == ENOSPC || code == EDQUOT
        self.init(
            isFull ? .storageFull : .storageFailed,
            "\(what): " + (isFull ? "the disk is full" : "the file system answers error \(code)"), isTransient: isFull
        )
    }

    /// A file that is not what it has to be. Nothing was changed.
    static func unfitFile(_ reason: String) -> BridgeError {
        BridgeError(.backupInvalid, "the file cannot be used: \(reason); nothing was changed")
    }

    /// A line of an export that does not fit.
    static func unfitLine(_ line: Int, path: String = "$", expected: String, got: String) -> BridgeError {
        BridgeError(
            .backupInvalid, "line \(line): \(path): expected \(expected), got \(got)",
            data: [
                "line": .number(JSONNumber(line)), "path": .string(path), "expected": .string(expected),
                "got": .string(got),
            ])
    }
}
