import ArgumentParser
import Glibc

extension ParsableCommand {
    /// Ends the program with what an error says, on standard error, and with its exit status: 64 where the command line
    /// is wrong. What is no error, such as help that was asked for, is printed.
    ///
    /// - Parameter command: the command that was running; nil: the command line was not understood.
    public static func exit(reporting error: any Error, during command: (any ParsableCommand.Type)? = nil) -> Never {
        let status = exitCode(for: error)
        guard status != .success, !message(for: error).isEmpty else { exit(withError: error) }
        exit(UsageError.report(error, of: self, during: command), status)
    }

    /// Ends the program because one of its commands was not used as it has to be.
    public static func exit(usage message: String, of command: any ParsableCommand.Type) -> Never {
        exit(UsageError.report(message, of: self, about: command), .validationFailure)
    }

    private static func exit(_ text: String, _ status: ExitCode) -> Never {
        let bytes = Array("\(text)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
        Glibc.exit(status.rawValue)
    }
}
