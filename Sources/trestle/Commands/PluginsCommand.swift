import ArgumentParser

/// `trestle plugins`
struct PluginsCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Lists the daemon's plugins: state, process and tasks; the same as plugin list.",
        discussion: """
            For a plugin that could not be loaded, the reason is shown.

            EXAMPLES
              trestle plugins
              trestle plugins --text | less -S
              trestle plugins | jq 'select(.state != "running")'
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    func run() async throws { try await showPlugins() }
}

extension BridgeCommand {
    /// Lists the plugins, for `trestle plugins` and `trestle plugin list`.
    func showPlugins() async throws {
        let first = ["name", "version", "state", "isolation", "waiting", "restarts", "error", "lastFault", "tasks"]
        try await showList("bridge.plugins", "plugins", first: first)
    }
}
