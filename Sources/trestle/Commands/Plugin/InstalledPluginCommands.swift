import ArgumentParser
import BridgeClient
import BridgeJSON
import Glibc

/// `trestle plugin install`
struct InstallPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Installs a plugin permanently, and loads it into the running daemon.",
        discussion: """
            A project's folder is built for release first: with swift build -c release, with make, or not at all if it \
            contains only a manifest. If root runs the command, the build runs as the owner of the folder. The plugin \
            is copied into the first directory of the daemon's setting local_plugin_dir, on Debian \
            /usr/local/lib/trestle/local-plugins. The copies belong to the user who runs the command, and no other \
            user may write to them. For a library, its file is copied. For a manifest, its whole folder is copied, \
            except other manifests, hidden files other than .venv, files that end with ~, and __pycache__. The daemon \
            loads the plugin immediately and at every start. An installed version is replaced \
            without losing a call. If the daemon cannot use the new version, the previous state is restored.

            EXAMPLES
              sudo trestle plugin install .
              sudo trestle plugin install libScannerPlugin.so
              trestle plugin install . --directory root/usr/local/lib/trestle/local-plugins

            EXIT STATUS
              0  it is installed and, without --directory, loaded   1  it is not installed
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle
    @OptionGroup var plugin: PluginArgument

    @Option(
        help: ArgumentHelp(
            "Install there without a daemon: for images, and for machines without a running daemon.", valueName: "path")
    )
    var directory: String?

    func run() async throws {
        let file = try await plugin.preparedFile("cannot be installed", isRelease: true, options.form)
        if let directory {
            let installation = try Reported.run(options.form) { () throws in
                let installation = try PluginInstallation(of: file, in: try Reported.absolute(directory))
                try installation.swapIn()
                installation.finish()
                return installation
            }
            return screen.show(["path": .string(installation.path)])
        }
        try await withClient { client in
            let plugins = try await LocalPlugins(of: client)
            let installation = try PluginInstallation(of: file, in: plugins.directory)
            try installation.swapIn()
            let answer: JSON
            do {
                let line = ProgressLine()
                defer { line.end() }
                answer = try await line.waiting(for: "waiting for the plugin") {
                    try await plugins.load(installation, by: client)
                }
            } catch {
                installation.undo()
                throw error
            }
            installation.finish()
            var shown = answer.objectValue ?? [:]
            shown["permanent"] = nil
            shown["path"] = .string(installation.path)
            screen.show(.object(shown))
        }
    }
}

/// `trestle plugin uninstall`
struct UninstallPluginCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall",
        abstract: "Unloads a plugin from the running daemon, and removes what `install` has installed.",
        discussion: """
            Calls in flight may end first, within the time of the setting stop_timeout. Data that the plugin has \
            stored is not removed.

            EXAMPLES
              sudo trestle plugin uninstall scanner
              sudo trestle plugin uninstall .
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The plugin's name, or the path that was installed.", completion: .directory)
    var plugin: String

    @Option(help: ArgumentHelp("The directory of the installation; no daemon is used.", valueName: "path"))
    var directory: String?

    func run() async throws {
        if let directory {
            let installed = try Reported.run(options.form) { () throws in
                let installed = try LocalPlugins(directory: try Reported.absolute(directory)).installed(plugin)
                try PluginInstallation.remove(installed.path)
                return installed
            }
            return screen.show(["path": .string(installed.path)])
        }
        try await withClient { [plugin] client in
            let plugins = try await LocalPlugins(of: client)
            let installed = try plugins.installed(plugin)
            // Checks this before anything changes.
            guard access(plugins.directory, W_OK) == 0 else {
                throw FileFailure(plugins.directory, "cannot be written")
            }
            var answer: JSON = [:]
            if let name = installed.name {
                answer = try await client.callJSON("bridge.plugin.unload", ["name": .string(name)])
            }
            try PluginInstallation.remove(installed.path)
            screen.show(["name": installed.name.map(JSON.string) ?? .null, "path": .string(installed.path)])
            if answer["configured"] == true, let name = installed.name {
                News.note(
                    "note: the configuration still names \(name), in [plugins.\(name)] or plugins.disabled, and the "
                        + "daemon does not start like that: remove it there")
            }
        }
    }
}

/// Support for commands that run without a daemon.
private enum Reported {
    /// Runs `body` and reports its error in the form.
    ///
    /// - Throws: The exit code; the error was reported.
    static func run<T>(_ form: OutputForm, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let code as ExitCode { throw code } catch {
            throw Failure.report(error, asJSON: form.json)
        }
    }

    static func absolute(_ path: String) throws(FileFailure) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else { throw FileFailure(".", "cannot be read") }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
