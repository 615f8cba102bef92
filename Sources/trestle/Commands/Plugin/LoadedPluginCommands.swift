import ArgumentParser
import BridgeClient
import BridgeJSON
import Glibc

/// `trestle plugin list`
struct ListPluginsCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the daemon's plugins: how each is, and how often it was started anew.",
        discussion: """
            Of a plugin that could not be used, the reason. `trestle plugins` tells where they are, and their tasks.

            EXAMPLES
              trestle plugin list
              trestle plugin list | jq -r 'select(.state != "running") | .name'
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await showList("bridge.status", "plugins", first: ["name", "state", "waiting", "restarts"])
    }
}

/// `trestle plugin load`
struct LoadPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Has the running daemon load a plugin.",
        discussion: """
            A library or a manifest, by its path; the daemon must be able to read it, and it must belong to root or to the \
            daemon's user. Until the daemon ends: for good, it goes to a directory that the setting plugin_dir names.

            EXAMPLES
              trestle plugin load .build/debug/libScannerPlugin.so
              trestle plugin load scanner.plugin.toml
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle
    @Argument(help: "The library, or the manifest NAME.plugin.toml.", completion: .file(extensions: ["so", "toml"]))
    var path: String

    func run() async throws {
        // The daemon has a working directory of its own.
        guard let real = realpath(path, nil) else { throw Failure.report(FileFailure(path, "cannot be loaded")) }
        defer { free(real) }
        try await perform("bridge.plugin.load", ["path": .string(String(cString: real))])
    }
}

/// `trestle plugin unload`
struct UnloadPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "unload",
        abstract: "Has the running daemon stop a plugin and forget it.",
        discussion: """
            Calls that are under way may end first, for as long as the setting stop_timeout says.

            EXAMPLES
              trestle plugin unload scanner
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle
    @Argument(help: "The plugin's name.") var name: String

    func run() async throws { try await perform("bridge.plugin.unload", ["name": .string(name)]) }
}

/// `trestle plugin reload`
struct ReloadPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Puts what a plugin's files say now in its place, without losing a call.",
        discussion: """
            The new version is started before it takes over; calls that are under way end where they began. Where it is no \
            good, the one before stays, and the status is 1.

            EXAMPLES
              trestle plugin reload scanner
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle
    @Argument(help: "The plugin's name.") var name: String

    func run() async throws { try await perform("bridge.plugin.reload", ["name": .string(name)]) }
}

extension BridgeCommand {
    /// Calls a task that does something with a plugin, and shows what it says.
    fileprivate func perform(_ task: String, _ options: JSON) async throws {
        try await withClient { client in
            let line = ProgressLine()
            defer { line.end() }
            let result = try await line.waiting(for: "waiting for the plugin") {
                try await client.call(task, options: options)
            }
            line.end()
            Screen.output.show(result)
        }
    }
}
