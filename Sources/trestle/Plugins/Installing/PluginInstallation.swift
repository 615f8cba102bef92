import EventLoop
import Glibc
import PrivateDaemon

/// A plugin that comes into a local plugin directory, whole or not at all: in a folder of its own there, which
/// is filled under a hidden name and renamed. Every method waits for the disk.
struct PluginInstallation {
    /// The path of the library or of the manifest, once it has been swapped in.
    var path: String { "\(folder)/\(file)" }
    /// The plugin's folder.
    let folder: String
    private let file: String
    /// What is to come; once it has been swapped in, what was there before.
    private let staged: String
    private let replaces: Bool

    /// Copies a plugin into the directory, under a hidden name.
    ///
    /// - Throws: ``FileFailure``, ``ProjectFailure``, `CancellationError`; nothing is left behind.
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

    /// What the folder of a plugin is called: `greet` for `greet.plugin.toml`, `Greet` for `libGreetPlugin.so`.
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

    /// Swaps it in, in one step; what was there is kept until ``finish()``.
    ///
    /// - Throws: nothing is left behind then.
    func swapIn() throws(SystemError) {
        do throws(SystemError) { try FolderContents.rename(staged, to: folder, exchanging: replaces) } catch {
            FolderContents.remove(staged)
            throw error
        }
    }

    /// Everything becomes as it was before it was swapped in.
    func undo() {
        guard (try? FolderContents.rename(folder, to: staged, exchanging: replaces)) != nil else { return }
        FolderContents.remove(staged)
    }

    /// Nothing is left of what was there before.
    func finish() { if replaces { FolderContents.remove(staged) } }

    /// Takes the plugin of a folder or file in a local plugin directory away, in one step.
    static func remove(_ path: String) throws(FileFailure) {
        let parts = path.split(separator: "/")
        let directory = parts.dropLast().reduce(into: "") { $0 += "/\($1)" }
        let hidden = try makeHidden(parts.last.map(String.init) ?? "", in: directory)
        defer { FolderContents.remove(hidden) }
        if rename(path, "\(hidden)/removed") == 0 { return }
        // A folder of a lower layer of an overlay cannot be renamed.
        guard errno == EXDEV else { throw FileFailure(path, "cannot be removed") }
        FolderContents.remove(path)
    }

    private static func makeHidden(_ name: String, in directory: String) throws(FileFailure) -> String {
        try SiblingPath.make(beside: "\(directory)/\(name)", naming: directory) { mkdir($0, 0o700) }.path
    }

    /// Makes a directory and those above it, for all users to read.
    private static func make(_ directory: String) throws(FileFailure) {
        guard access(directory, F_OK) != 0 else { return }
        let parent = directory.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
        if !parent.isEmpty { try make(parent) }
        guard mkdir(directory, 0o755) == 0 else { throw FileFailure(directory, "cannot be made") }
        try Ownership.take(directory, mode: 0o755)
    }
}
