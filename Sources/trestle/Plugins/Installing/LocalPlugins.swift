import BridgeClient
import BridgeJSON
import Glibc

/// The plugins of a daemon, and the directory in which `trestle plugin install` puts more.
struct LocalPlugins: Sendable {
    let directory: String
    /// As `bridge.plugins` lists them; none where no daemon was asked.
    private let plugins: [JSON]

    /// No daemon is asked: what is installed there is loaded by the next one.
    init(directory: String) {
        self.directory = directory
        plugins = []
    }

    /// - Throws: ``BridgeError``, ``ProjectFailure`` where the daemon has no such directory.
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

    /// The plugin that was loaded from a file, and works; nil: there is none.
    func name(ofLoaded path: String) -> String? {
        plugins.first { $0["path"]?.stringValue == path && $0["state"] != "refused" && $0["state"] != "stopping" }?[
            "name"]?
            .stringValue
    }

    /// Something that can be uninstalled.
    struct Installed: Sendable, Equatable {
        /// The plugin's name; nil: the daemon has none from there.
        var name: String?
        /// Its folder, or its file where a user has put it there.
        var path: String
    }

    /// What a command line means: the name of a plugin, or the path of a project, a library or a manifest that was
    /// installed. Blocks.
    ///
    /// - Throws: ``ProjectFailure`` where nothing of that was installed.
    func installed(_ text: String) throws -> Installed {
        if let plugin = plugins.first(where: { $0["name"]?.stringValue == text && $0["state"] != "stopping" }) {
            let path = plugin["path"]?.stringValue ?? ""
            guard let entry = entryPath(of: path) else {
                throw ProjectFailure(
                    "the plugin \(text) was loaded from \(path), and `trestle plugin install` did not put it there: "
                        + "`trestle plugin unload \(text)` takes it away until the daemon starts again")
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
        throw ProjectFailure("no plugin \(text) is installed in \(directory); `trestle plugins` lists those there are")
    }

    private func folderName(ofProject path: String) throws -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return PluginInstallation.folderName(of: path)
        }
        let project = try PluginProject(path, plugin: nil, isRelease: true)
        // What it was built in may have gone since.
        return PluginInstallation.folderName(of: try project.shared?.library ?? project.plugin())
    }

    /// The folder or file in the directory that a plugin's file belongs to; nil: it lies elsewhere.
    private func entryPath(of path: String) -> String? {
        guard path.hasPrefix("\(directory)/") else { return nil }
        return path.dropFirst(directory.count + 1).split(separator: "/").first.map { "\(directory)/\($0)" }
    }

    // MARK: The daemon

    /// Has the daemon load a plugin that has been swapped in, or put it in place of what it has loaded before.
    ///
    /// - Throws: ``BridgeError`` where it cannot be used; what the daemon had loaded goes on then.
    func load(_ installation: PluginInstallation, by client: Bridge) async throws(BridgeError) -> JSON {
        if let name = name(ofLoaded: installation.path) {
            return try await client.callJSON("bridge.plugin.reload", ["name": .string(name)])
        }
        do throws(BridgeError) {
            return try await client.callJSON("bridge.plugin.load", ["path": .string(installation.path)])
        } catch {
            // One that was loaded for now, or another file of the folder that was replaced, makes room.
            guard let loaded = error.data?["loaded"], let name = loaded["name"]?.stringValue,
                loaded["permanent"] == false || entryPath(of: loaded["path"]?.stringValue ?? "") == installation.folder
            else { throw error }
            return try await client.callJSON(
                "bridge.plugin.reload", ["name": .string(name), "path": .string(installation.path)])
        }
    }
}
