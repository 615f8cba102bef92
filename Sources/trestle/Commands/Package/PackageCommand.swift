import ArgumentParser
import OfflinePackages

/// `trestle package`
struct PackageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "package",
        abstract: "Makes and checks offline packages.",
        discussion: """
            An offline package contains the files of a web application with a signature, as one file or as a folder. \
            http.packages.install installs it, and http.fetch answers requests from it. These commands do not use a \
            daemon.

            EXAMPLES
              trestle package key notes.key
              trestle package make notes --key notes.key
              trestle package check notes-1.0.tar.zst --key "$(cat notes.key.pub)"
              trestle call http.packages.install package=@notes-1.0.tar.zst
            """,
        subcommands: [MakePackageCommand.self, CheckPackageCommand.self, MakePackageKeyCommand.self])
}

/// Support for commands that work with packages.
enum PackageRun {
    /// Runs `body` and reports its error.
    ///
    /// - Throws: The exit code; the error was reported.
    static func reporting(_ form: OutputForm, _ body: () throws -> Void) throws {
        do { try body() } catch let code as ExitCode { throw code } catch {
            throw Failure.report(error, asJSON: form.json)
        }
    }

    /// Reads the secret key in a file.
    ///
    /// - Throws: ``FileFailure``, ``UsageFailure``, `CancellationError`.
    static func key(in path: String) throws -> PackageSecretKey {
        let text = String(decoding: try InputFile(path).contents(), as: UTF8.self)
        guard let key = PackageSecretKey(text) else {
            throw UsageFailure("\(path) contains no secret key; trestle package key creates one")
        }
        return key
    }
}
