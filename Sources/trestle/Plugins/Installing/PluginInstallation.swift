import EventLoop
import Glibc
import PrivateDaemon

/// The installation of a plugin into a local plugin directory. It is atomic: the plugin's own folder is filled under a
/// hidden name and renamed. Every method waits for the disk.
struct PluginInstallation {
    /// The path of the library or manifest after it was swapped in.
    var path: String { "\(folder)/\(file)" }
    /// The plugin's folder.
    let folder: String
    private let file: String
    /// The new version; after it was swapped in, the previous version.
    private let staged: String
    private let replaces: Bool

    /// Copies a plugin into the directory, under a hidden name.
    ///
    /// - Throws: ``FileFailure``, ``ProjectFailure``, `CancellationError`; the copy is removed then.
    init(of plugin: String, in directory: String) throws {
        try Self.make(directory)
        let name = Self.folderName(of: plugin)
        folder = "\(directory)/\(name)"
        file = PluginCopy.name(of: plugin)
        replaces = access(folder, F_OK) == 0
        staged = try Self.makeHidden(name, in: directory)
        do {
            try PluginCopy.copy(plugin, to: staged)
            try Ownership.take(staged, mode: 0o755)
        } catch {
            FolderContents.remove(staged)
            throw error
        }
    }

    /// Returns the name of a plugin's folder: `greet` for `greet.plugin.toml`, `Greet` for `libGreetPlugin.so`.
    static func folderName(of plugin: String) -> String {
        var name = Substring(PluginCopy.name(of: plugin))
        if name.hasSuffix(PrivateFolder.manifestSuffix) {
            name = name.dropLast(PrivateFolder.manifestSuffix.count)
        } else {
            for suffix in [".so", "Plugin"] where name.count > suffix.count && name.hasSuffix(suffix) {
                name = name.dropLast(suffix.count)
            }
            if name.count > 3, name.hasPrefix("lib") { name = name.dropFirst(3) }
        }
        return String(name)
    }

    /// Swaps the new version in atomically. The previous version is kept until ``finish()``.
    ///
    /// - Throws: The new version is removed then.
    func swapIn() throws(SystemError) {
        do throws(SystemError) { try FolderContents.rename(staged, to: folder, exchanging: replaces) } catch {
            FolderContents.remove(staged)
            throw error
        }
    }

    /// Restores the state before the swap.
    func undo() {
        guard (try? FolderContents.rename(folder, to: staged, exchanging: replaces)) != nil else { return }
        FolderContents.remove(staged)
    }

    /// Removes the previous version.
    func finish() { if replaces { FolderContents.remove(staged) } }

    /// Removes the plugin of a folder or file in a local plugin directory atomically.
    static func remove(_ path: String) throws(FileFailure) {
        let parts = path.split(separator: "/")
        let directory = parts.dropLast().reduce(into: "") { $0 += "/\($1)" }
        let hidden = try makeHidden(parts.last.map(String.init) ?? "", in: directory)
        defer { FolderContents.remove(hidden) }
        if rename(path, "\(hidden)/removed") == 0 { return }
        // A folder in a lower layer of an overlay file system cannot be renamed.
        guard errno == EXDEV else { throw FileFailure(path, "cannot be removed") }
        FolderContents.remove(path)
    }

    private static func makeHidden(_ name: String, in directory: String) throws(FileFailure) -> String {
        try SiblingPath.make(beside: "\(directory)/\(name)", naming: directory) { mkdir($0, 0o700) }.path
    }

    /// Creates a directory and its parents, readable by all users.
    private static func make(_ directory: String) throws(FileFailure) {
        guard access(directory, F_OK) != 0 else { return }
        let parent = directory.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
        if !parent.isEmpty { try make(parent) }
        guard mkdir(directory, 0o755) == 0 else { throw FileFailure(directory, "cannot be created") }
        try Ownership.take(directory, mode: 0o755)
    }
}
