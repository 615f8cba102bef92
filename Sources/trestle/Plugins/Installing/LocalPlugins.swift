import BridgeClient
import BridgeJSON
import Glibc

/// The plugins of a daemon, and the directory for plugins of `trestle plugin install`.
struct LocalPlugins: Sendable {
    let directory: String
    /// The entries of `bridge.plugins`; empty if no daemon was called.
    private let plugins: [JSON]

    /// Uses a directory without calling a daemon; the next daemon loads the plugins in it.
    init(directory: String) {
        self.directory = directory
        plugins = []
    }

    /// - Throws: ``BridgeError``, ``ProjectFailure`` if the daemon has no such directory.
    init(of client: Bridge) async throws {
        let answer = try await client.callPages("bridge.plugins", list: "plugins")
        guard let directory = answer["localDirectory"]?.stringValue else {
            throw ProjectFailure(
                "this daemon has no directory for installed plugins, since its configuration sets plugin_dir and not "
                    + "local_plugin_dir: set that too, or name a directory of its plugin_dir with --directory")
        }
        self.directory = directory
        plugins = answer["plugins"]?.arrayValue ?? []
    }

    /// Returns the running plugin that was loaded from a file; `nil` if there is none.
    func name(ofLoaded path: String) -> String? {
        plugins.first { $0["path"]?.stringValue == path && $0["state"] != "refused" && $0["state"] != "stopping" }?[
            "name"]?
            .stringValue
    }

    /// A plugin that can be uninstalled.
    struct Installed: Sendable, Equatable {
        /// The plugin's name; `nil` if the daemon has loaded none from there.
        var name: String?
        /// Its folder, or its file if a user put it there.
        var path: String
    }

    /// Finds an installed plugin by its name, or by the path of a project, library or manifest that was installed.
    /// Blocks.
    ///
    /// - Throws: ``ProjectFailure`` if it was not installed.
    func installed(_ text: String) throws -> Installed {
        if let plugin = plugins.first(where: { $0["name"]?.stringValue == text && $0["state"] != "stopping" }) {
            let path = plugin["path"]?.stringValue ?? ""
            guard let entry = entryPath(of: path) else {
                throw ProjectFailure(
                    "the plugin \(text) was loaded from \(path), and was not installed with `trestle plugin install`: "
                        + "`trestle plugin unload \(text)` unloads it until the daemon starts again")
            }
            return Installed(name: text, path: entry)
        }
        let isName = !text.contains("/") && !text.hasPrefix(".")
        for folder in (isName ? [text] : []) + (try folderName(ofProject: text).map { [$0] } ?? []) {
            let path = "\(directory)/\(folder)"
            guard access(path, F_OK) == 0 else { continue }
            let plugin = plugins.first { entryPath(of: $0["path"]?.stringValue ?? "") == path }
            return Installed(name: plugin?["name"]?.stringValue, path: path)
        }
        throw ProjectFailure(
            "no plugin \(text) is installed in \(directory); `trestle plugins` lists the installed plugins")
    }

    private func folderName(ofProject path: String) throws -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return PluginInstallation.folderName(of: path)
        }
        let project = try PluginProject(path, plugin: nil, isRelease: true)
        // The folder in which it was built may have been removed since.
        return PluginInstallation.folderName(of: try project.shared?.library ?? project.plugin())
    }

    /// Returns the folder or file in the directory that contains a plugin's file; `nil` if the file is elsewhere.
    private func entryPath(of path: String) -> String? {
        guard path.hasPrefix("\(directory)/") else { return nil }
        return path.dropFirst(directory.count + 1).split(separator: "/").first.map { "\(directory)/\($0)" }
    }

    // MARK: The daemon

    /// Makes the daemon load an installed plugin, or replace the version that it has loaded.
    ///
    /// - Throws: ``BridgeError`` if it cannot be used; the previously loaded version then continues.
    func load(_ installation: PluginInstallation, by client: Bridge) async throws(BridgeError) -> JSON {
        if let name = name(ofLoaded: installation.path) {
            return try await client.callJSON("bridge.plugin.reload", ["name": .string(name)])
        }
        do throws(BridgeError) {
            return try await client.callJSON("bridge.plugin.load", ["path": .string(installation.path)])
        } catch {
            // A temporarily loaded plugin, or another file of the replaced folder, is replaced.
            guard let loaded = error.data?["loaded"], let name = loaded["name"]?.stringValue,
                loaded["permanent"] == false || entryPath(of: loaded["path"]?.stringValue ?? "") == installation.folder
            else { throw error }
            return try await client.callJSON(
                "bridge.plugin.reload", ["name": .string(name), "path": .string(installation.path)])
        }
    }
}
