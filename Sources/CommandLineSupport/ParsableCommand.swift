import ArgumentParser
import Glibc

extension ParsableCommand {
    /// Prints an error to standard error and ends the program with its exit status, which is 64 for a usage error. If
    /// the error is only a request for output, such as help, prints that output.
    ///
    /// - Parameters:
    ///   - command: The command that was running; `nil` if the command line was not understood.
    ///   - typed: The command that the command line names; `nil` if this is unknown.
    public static func exit(
        reporting error: any Error, during command: (any ParsableCommand.Type)? = nil,
        typed: (any ParsableCommand.Type)? = nil
    ) -> Never {
        let status = exitCode(for: error)
        guard status != .success, !message(for: error).isEmpty else { exit(withError: error) }
        exit(UsageError.report(error, of: self, during: command, typed: typed), status)
    }

    /// Ends the program because one of its commands was used incorrectly.
    public static func exit(usage message: String, of command: any ParsableCommand.Type) -> Never {
        exit(UsageError.report(message, of: self, about: command), .validationFailure)
    }

    private static func exit(_ text: String, _ status: ExitCode) -> Never {
        let bytes = Array("\(text)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
        Glibc.exit(status.rawValue)
    }
}
