public import EventLoop
import Glibc

/// The folder of a private daemon: its socket, state, configuration and plugins, inaccessible to other users. Any
/// thread; every method waits for the disk.
public struct PrivateFolder: Sendable {
    /// The path of the folder.
    public let path: String

    /// The path of the daemon's socket.
    public var socketPath: String { "\(path)/bridge.sock" }
    /// The directory where plugins keep their state.
    public var statePath: String { "\(path)/state" }
    /// The directory where the daemon looks for plugins.
    public var pluginPath: String { "\(path)/plugins" }
    /// The path of the daemon's configuration.
    public var configurationPath: String { "\(path)/trestled.toml" }

    /// The suffix of manifest file names.
    public static let manifestSuffix = ".plugin.toml"

    /// Creates a folder in /tmp, where paths are short: the path of a socket has at most 107 bytes.
    ///
    /// - Parameter purpose: A part of its name: `/tmp/trestle-PURPOSE-XXXXXX`.
    public init(for purpose: String) throws(SystemError) {
        var template = Array("/tmp/trestle-\(purpose)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError(code: errno, operation: "make a folder in", subject: "/tmp")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        do throws(SystemError) {
            try Self.make(pluginPath)
            try configure("")
        } catch {
            remove()
            throw error
        }
    }

    /// Writes the daemon's configuration. The file always exists, so that the daemon does not read the system's
    /// configuration.
    public func configure(_ text: String) throws(SystemError) {
        let descriptor = open(configurationPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { if descriptor >= 0 { close(descriptor) } }
        let bytes = Array(text.utf8)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemError(code: errno, operation: "write", subject: configurationPath)
        }
    }

    /// Makes one plugin the only content of the plugin directory.
    ///
    /// Creates a link to the plugin. The daemon starts the command of a manifest in the folder that the link leads to.
    ///
    /// - Parameter plugin: The path of a library or of a manifest.
    /// - Throws: `ENOENT` if it does not exist.
    public func offer(_ plugin: String) throws(SystemError) {
        guard let real = realpath(plugin, nil) else {
            throw SystemError(code: errno, operation: "read", subject: plugin)
        }
        defer { free(real) }
        let target = String(cString: real)
        // Keeps the name in the given path, which may be the name of a link.
        let name = plugin.split(separator: "/").last.map(String.init) ?? plugin
        for old in Self.names(in: pluginPath) { unlink("\(pluginPath)/\(old)") }
        guard symlink(target, "\(pluginPath)/\(name)") == 0 else {
            throw SystemError(code: errno, operation: "link", subject: "\(pluginPath)/\(name)")
        }
    }

    private static func make(_ path: String) throws(SystemError) {
        guard mkdir(path, 0o700) == 0 else { throw SystemError(code: errno, operation: "make", subject: path) }
    }

    /// Returns the names in a folder; empty if it cannot be read.
    private static func names(in path: String) -> [String] { (try? FolderContents.names(in: path)) ?? [] }

    /// Removes the folder with its contents. Ignores errors.
    public func remove() { FolderContents.remove(path) }
}
