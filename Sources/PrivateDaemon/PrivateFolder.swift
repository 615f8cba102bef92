public import EventLoop
import Glibc

/// The folder of a daemon of one's own: its socket, its state, its configuration and its plugins, for no other user.
/// Any thread; every method waits for the disk.
public struct PrivateFolder: Sendable {
    /// The folder.
    public let path: String

    /// Where the daemon listens.
    public var socketPath: String { "\(path)/bridge.sock" }
    /// Where plugins keep what outlives the daemon.
    public var statePath: String { "\(path)/state" }
    /// Where the daemon looks for plugins.
    public var pluginPath: String { "\(path)/plugins" }
    /// The daemon's configuration.
    public var configurationPath: String { "\(path)/trestled.toml" }

    /// What the names of manifests end with.
    public static let manifestSuffix = ".plugin.toml"

    /// Makes one in /tmp, where paths are short: that of a socket has 107 bytes at the most.
    ///
    /// - Parameter purpose: what its name says: `/tmp/trestle-PURPOSE-XXXXXX`.
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

    /// Writes the daemon's configuration. There is always one, so that the machine's is not read.
    public func configure(_ text: String) throws(SystemError) {
        let descriptor = open(configurationPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { if descriptor >= 0 { close(descriptor) } }
        let bytes = Array(text.utf8)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemError(code: errno, operation: "write", subject: configurationPath)
        }
    }

    /// Puts one plugin into the plugin directory, and takes what was there away.
    ///
    /// It stays where it is, and a link leads to it. The daemon starts the command of a manifest in the folder that the
    /// link leads to.
    ///
    /// - Parameter plugin: the path of a library, or of a manifest.
    /// - Throws: `ENOENT` where it is not there.
    public func offer(_ plugin: String) throws(SystemError) {
        guard let real = realpath(plugin, nil) else {
            throw SystemError(code: errno, operation: "read", subject: plugin)
        }
        defer { free(real) }
        let target = String(cString: real)
        // By the name that it is known by, which may be a link's.
        let name = plugin.split(separator: "/").last.map(String.init) ?? plugin
        for old in Self.names(in: pluginPath) { unlink("\(pluginPath)/\(old)") }
        guard symlink(target, "\(pluginPath)/\(name)") == 0 else {
            throw SystemError(code: errno, operation: "link", subject: "\(pluginPath)/\(name)")
        }
    }

    private static func make(_ path: String) throws(SystemError) {
        guard mkdir(path, 0o700) == 0 else { throw SystemError(code: errno, operation: "make", subject: path) }
    }

    /// What is in a folder; nothing where it cannot be read.
    private static func names(in path: String) -> [String] { (try? FolderContents.names(in: path)) ?? [] }

    /// Removes it with all that is in it. What cannot be removed stays: it is in no one's way.
    public func remove() { FolderContents.remove(path) }
}
