import ArgumentParser
import EventLoop
import Glibc

/// `trestle config`
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Reloads, checks and shows the daemon's configuration.",
        discussion: """
            `trestled --print-config sample` writes a file with every setting.

            EXAMPLES
              trestle config check --config my.toml && sudo cp my.toml /etc/trestle/trestled.toml
              trestle config reload
              trestle config show | grep limits
            """,
        subcommands: [ReloadCommand.self, CheckConfigurationCommand.self, ShowConfigurationCommand.self])
}

/// `trestle config check`
struct CheckConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a configuration file, with its plugins' sections and the rules.",
        discussion: """
            Runs `trestled --check-config`, and does not use a running daemon. Each mistake is shown with its \
            position; the exit status is then 78.

            EXAMPLES
              trestle config check
              trestle config check --config my.toml
            """)

    @OptionGroup var file: ConfigurationFileOption

    func run() throws { try file.runDaemon(["--check-config"]) }
}

/// `trestle config show`
struct ShowConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows every setting, with its value and the source of the value.",
        discussion: """
            Runs `trestled --print-config effective`, and does not use a running daemon, whose flags it does not know. \
            Values whose names indicate a secret are not shown.

            EXAMPLES
              trestle config show
              trestle config show --config my.toml | grep -v default
            """)

    @OptionGroup var file: ConfigurationFileOption

    func run() throws { try file.runDaemon(["--print-config", "effective"]) }
}

/// The configuration file for `trestled`.
struct ConfigurationFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file; default: the file that a daemon of this user reads.", valueName: "file"),
        completion: .file())
    var config: String?

    /// Replaces this process by the daemon's program, which writes the output and determines the exit status.
    func runDaemon(_ arguments: [String]) throws {
        let daemon = try InstalledDaemon.path(searchesPath: true)
        let words = [daemon] + (config.map { ["--config", $0] } ?? []) + arguments
        var pointers = words.map { strdup($0) } + [nil]
        execv(daemon, &pointers)
        throw SystemError(code: errno, operation: "execv", subject: daemon)
    }
}
