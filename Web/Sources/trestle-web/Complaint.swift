import ArgumentParser
import Glibc
import OfflinePackages

/// What is wrong, on standard error.
enum Complaint {
    /// Writes lines.
    static func write(_ lines: [String]) {
        let bytes = lines.flatMap { Array("trestle-web: \($0)\n".utf8) }
        // Where standard error is closed, nobody wants to know.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Writes lines, and makes the exit of it.
    static func refuse(_ lines: [String], _ status: Int32) -> ExitCode {
        write(lines)
        return ExitCode(status)
    }

    /// Does something with packages; a fault ends the program, with the code of its error.
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
