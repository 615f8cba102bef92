import Glibc
import TaskKit

/// The errors of the file tasks. The codes are stable, for programs; the messages state what the user can do.
enum Failure {
    static func system(_ number: CInt, _ action: String, _ name: String) -> BridgeError {
        let reason = String(cString: strerror(number))
        return switch number {
        case ENOENT: BridgeError("files.not_found", "there is no file \(name)")
        case ENOSPC, EDQUOT:
            BridgeError("files.full", "\(name) was not written: there is no room on the disk", isTransient: true)
        case ELOOP, EISDIR: BridgeError("files.not_a_file", "\(name) is not a regular file")
        default: BridgeError("files.failed", "\(action) \(name) failed: \(reason)")
        }
    }

    static func notAFile(_ name: String) -> BridgeError {
        BridgeError("files.not_a_file", "\(name) is not a regular file")
    }

    static func tooLarge(_ name: String, _ maximumBytes: Int) -> BridgeError {
        BridgeError(
            "files.too_large",
            "\(name) was not written: it has more than \(maximumBytes) bytes, which is the limit (file_bytes in "
                + "[plugins.files] of the daemon's configuration)",
            data: ["maximumBytes": .number(JSONNumber(maximumBytes))])
    }
}
