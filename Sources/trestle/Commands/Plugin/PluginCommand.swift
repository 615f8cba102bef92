import ArgumentParser

/// `trestle plugin`
struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "Makes plugins, checks them, runs them while they are written, and loads them.",
        discussion: """
            EXAMPLES
              trestle plugin new scanner
              trestle plugin dev scanner
              trestle plugin check scanner/.build/debug/libScannerPlugin.so --call scanner='{"who": "World"}'
              sudo trestle plugin load /usr/local/lib/trestle/plugins/libScannerPlugin.so
            """,
        subcommands: [
            NewPluginCommand.self, CheckPluginCommand.self, DevelopPluginCommand.self, ListPluginsCommand.self,
            LoadPluginCommand.self, UnloadPluginCommand.self, ReloadPluginCommand.self,
        ])
}
