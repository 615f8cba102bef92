import Glibc
import TaskKit

extension ErrorCode {
    /// The received file is invalid.
    static let backupInvalid: ErrorCode = "backup.invalid"
}

extension BridgeError {
    static var tooManyTransfers: BridgeError {
        BridgeError(
            .busy,
            "\(Limits.transfers) copies of the store are being transferred already: wait until one of them has ended",
            data: ["started": false], isTransient: true, retryAfter: .seconds(1))
    }

    /// The file of the copy is shorter than before, because another program has changed it.
    static var cutCopy: BridgeError {
        BridgeError(.storageFailed, "the copy cannot be read: its file is truncated")
    }

    /// Creates the caller's error for a failure of the file system, without a path and without the system's message.
    ///
    /// - Parameter what: The beginning of a sentence: "the copy cannot be written".
    init(systemCode code: Int32, _ what: String) {
        let isFull = code == ENOSPC || code == EDQUOT
        self.init(
            isFull ? .storageFull : .storageFailed,
            "\(what): " + (isFull ? "the disk is full" : "the file system returns error \(code)"), isTransient: isFull
        )
    }

    /// The error for an invalid file. Nothing was changed.
    static func unfitFile(_ reason: String) -> BridgeError {
        BridgeError(.backupInvalid, "the file cannot be used: \(reason); nothing was changed")
    }

    /// The error for a line of an export that is not JSON.
    static func lineNotJSON(_ line: Int, _ error: JSONSyntaxError) -> BridgeError {
        unfitLine(
            line, expected: "JSON", got: error.description, message: "the line is not valid JSON: \(error.description)")
    }

    /// The error for an invalid line of an export.
    ///
    /// - Parameter message: The message instead of one about `expected` and `got`.
    static func unfitLine(
        _ line: Int, path: String = "$", expected: String, got: String, message: String? = nil
    ) -> BridgeError {
        BridgeError(
            .backupInvalid, "line \(line): " + (message ?? "\(path): expected \(expected); got \(got)"),
            data: [
                "line": .number(JSONNumber(line)), "path": .string(path), "expected": .string(expected),
                "got": .string(got),
            ])
    }
}
