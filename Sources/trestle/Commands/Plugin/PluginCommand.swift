import ArgumentParser

/// `trestle plugin`
struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "Creates, checks, runs, loads and installs plugins.",
        discussion: """
            EXAMPLES
              trestle plugin new scanner
              trestle plugin dev scanner
              trestle plugin check scanner --call scanner='{"who": "World"}'
              sudo trestle plugin install scanner
            """,
        subcommands: [
            NewPluginCommand.self, CheckPluginCommand.self, DevelopPluginCommand.self, ListPluginsCommand.self,
            LoadPluginCommand.self, UnloadPluginCommand.self, ReloadPluginCommand.self, InstallPluginCommand.self,
            UninstallPluginCommand.self,
        ])
}
