import ArgumentParser
import Glibc
import OfflinePackages

/// Writes problems to standard error.
enum Complaint {
    /// Writes lines.
    static func write(_ lines: [String]) {
        let bytes = lines.flatMap { Array("trestle-web: \($0)\n".utf8) }
        // If standard error is closed, the lines are lost.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Writes lines, and returns the exit code.
    static func refuse(_ lines: [String], _ status: Int32) -> ExitCode {
        write(lines)
        return ExitCode(status)
    }

    /// Runs an action on packages; a fault ends the program, with the code of its error in the message.
    static func about<Result>(_ body: () throws(PackageFault) -> Result) throws -> Result {
        do throws(PackageFault) {
            return try body()
        } catch {
            let code = error.reason == .missing ? "package.not_found" : "package.invalid"
            let isOfDisk = error.reason == .storage || error.reason == .full
            throw refuse(["\(error)\(isOfDisk ? "" : " (\(code))")"], 1)
        }
    }
}
