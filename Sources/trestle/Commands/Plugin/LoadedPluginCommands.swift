import ArgumentParser
import BridgeClient
import BridgeJSON
import Glibc

/// `trestle plugin list`
struct ListPluginsCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the daemon's plugins: state, process and tasks; the same as trestle plugins.",
        discussion: """
            For a plugin that could not be loaded, the reason is shown.

            EXAMPLES
              trestle plugin list
              trestle plugin list | jq -r 'select(.state != "running") | .name'
            """,
        aliases: ["ls"])

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    func run() async throws { try await showPlugins() }
}

/// `trestle plugin load`
struct LoadPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Loads a plugin into the running daemon.",
        discussion: """
            The plugin is a library, a manifest, or a project's folder, which is built first. The daemon must be able \
            to read it, and it must belong to root or to the daemon's user. It stays until the daemon ends; \
            `trestle plugin install` installs a plugin permanently.

            EXAMPLES
              trestle plugin load .
              trestle plugin load .build/debug/libScannerPlugin.so
              trestle plugin load scanner.plugin.toml
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle
    @OptionGroup var plugin: PluginArgument

    func run() async throws {
        let path = try await plugin.preparedFile("cannot be loaded", options.form)
        // The daemon has another working directory.
        guard let real = realpath(path, nil) else {
            throw Failure.report(FileFailure(path, "cannot be loaded"), asJSON: options.form.json)
        }
        defer { free(real) }
        let named = plugin.path
        try await perform("bridge.plugin.load", ["path": .string(String(cString: real))]) { result in
            guard result["permanent"] == false else { return }
            News.note(
                "note: it is loaded until the daemon ends; `trestle plugin install \(named)` installs it permanently")
        }
    }
}

/// `trestle plugin unload`
struct UnloadPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "unload",
        abstract: "Unloads a plugin from the running daemon.",
        discussion: """
            Calls in flight may end first, within the time of the setting stop_timeout.

            EXAMPLES
              trestle plugin unload scanner
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle
    @Argument(help: "The plugin's name.") var name: String

    func run() async throws { try await perform("bridge.plugin.unload", ["name": .string(name)]) }
}

/// `trestle plugin reload`
struct ReloadPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Replaces a plugin by the current version of its files, without losing a call.",
        discussion: """
            The new version is started before it replaces the old one; calls in flight end in the old version. If the \
            new version fails, the old version stays, and the exit status is 1. A plugin that was refused is loaded if \
            it has been corrected.

            EXAMPLES
              trestle plugin reload scanner
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle
    @Argument(help: "The plugin's name.") var name: String

    func run() async throws { try await perform("bridge.plugin.reload", ["name": .string(name)]) }
}

extension BridgeCommand {
    /// Calls a task that changes a plugin, and shows the result.
    ///
    /// - Parameter then: Called with the result after it was shown.
    fileprivate func perform(
        _ task: String, _ options: JSON, then: @escaping @Sendable (JSON) -> Void = { _ in }
    ) async throws {
        try await withClient { client in
            let line = ProgressLine()
            defer { line.end() }
            let result = try await line.waiting(for: "waiting for the plugin") {
                try await client.callJSON(task, options)
            }
            line.end()
            screen.show(result)
            then(result)
        }
    }
}
