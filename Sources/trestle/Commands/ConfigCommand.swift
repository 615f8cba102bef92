import ArgumentParser

/// `trestle config`
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Makes the daemon read its configuration again.",
        discussion: """
            `trestled --check-config` checks a configuration without a daemon; `trestled --print-config` writes a sample.

            EXAMPLES
              trestle config reload
            """,
        subcommands: [ReloadCommand.self])
}
