import ArgumentParser

/// `trestle plugins`
struct PluginsCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Lists the daemon's plugins and their state.",
        discussion: """
            EXAMPLES
              trestle plugins
              trestle plugins | jq 'select(.state != "running")'
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await showList("bridge.plugins", "plugins", first: ["name", "version", "state", "isolation", "tasks"])
    }
}
