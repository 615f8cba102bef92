import EventLoop
import Glibc
import PrivateDaemon

/// Copies what a plugin consists of into a folder: of a library the file; of a manifest all that lies beside it, but
/// hidden files, caches and other plugins' manifests. The copies belong to this process's user, and no other user may
/// write them.
struct PluginCopy {
    /// Beyond these it is hardly a folder with nothing but a plugin in it.
    private static let maximumFiles = 20_000
    private static let maximumBytes = 1 << 30
    private static let chunkBytes = 1 << 16

    private let plugin: String
    private var files = 0
    private var bytes = 0

    /// Copies the plugin of a file into a folder that is there. Blocks.
    ///
    /// - Throws: ``FileFailure``, ``ProjectFailure``, `CancellationError`.
    static func copy(_ plugin: String, to folder: String) throws {
        var copy = PluginCopy(plugin: plugin)
        guard plugin.hasSuffix(PrivateFolder.manifestSuffix) else {
            return try copy.copyFile(plugin, to: "\(folder)/\(name(of: plugin))")
        }
        let source = plugin.lastIndex(of: "/").map { String(plugin[..<$0]) } ?? "."
        for name in try FolderContents.names(in: source.isEmpty ? "/" : source) where copy.isPart(name) {
            try copy.copyEntry("\(source)/\(name)", to: "\(folder)/\(name)")
        }
    }

    private init(plugin: String) { self.plugin = plugin }

    static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private func isPart(_ name: String) -> Bool {
        if name.hasSuffix(PrivateFolder.manifestSuffix) { return name == Self.name(of: plugin) }
        return !Self.isLeftOut(name)
    }

    /// What is no part of a plugin, wherever in its folder it lies. A virtual environment of Python's is.
    private static func isLeftOut(_ name: String) -> Bool {
        (name.hasPrefix(".") && name != ".venv") || name.hasSuffix("~") || name == "__pycache__"
    }

    private mutating func copyEntry(_ source: String, to target: String) throws {
        try Task.checkCancellation()
        var status = stat()
        guard lstat(source, &status) == 0 else { throw FileFailure(source, "cannot be read") }
        try count(status)
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            guard mkdir(target, 0o700) == 0 else { throw FileFailure(target, "cannot be made") }
            for name in try FolderContents.names(in: source) where !Self.isLeftOut(name) {
                try copyEntry("\(source)/\(name)", to: "\(target)/\(name)")
            }
            try Ownership.take(target, mode: 0o755)
        case S_IFLNK: try copyLink(source, to: target)
        case S_IFREG: try copyFile(source, to: target)
        // A socket or a pipe is something that runs there, and no part of the plugin.
        default: break
        }
    }

    private mutating func count(_ status: stat) throws {
        files += 1
        bytes += status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
        guard files <= Self.maximumFiles, bytes <= Self.maximumBytes else {
            throw ProjectFailure(
                "more than \(Self.maximumFiles) files, or 1 GiB, lie beside \(plugin), and all of them would be installed "
                    + "with it: put it into a folder with nothing but what its worker needs")
        }
    }

    private func copyLink(_ source: String, to target: String) throws(FileFailure) {
        guard let link = realLink(source), symlink(link, target) == 0 else {
            throw FileFailure(source, "cannot be copied")
        }
        lchown(target, geteuid(), getegid())
    }

    private func realLink(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            // `!`: the room is not empty.
            let count = readlink(path, buffer.baseAddress!, buffer.count)
            guard count >= 0 else { return nil }
            return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    private func copyFile(_ source: String, to target: String) throws {
        let input = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard input >= 0 else { throw FileFailure(source, "cannot be read") }
        defer { close(input) }
        var status = stat()
        fstat(input, &status)
        let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw FileFailure(target, "cannot be made") }
        defer { close(output) }
        try withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 1) { chunk in
            while true {
                try Task.checkCancellation()
                let count = read(input, chunk.baseAddress, chunk.count)
                guard count >= 0 else { throw FileFailure(source, "cannot be read") }
                guard count > 0 else { return }
                guard write(output, chunk.baseAddress, count) == count else {
                    throw FileFailure(target, "cannot be written")
                }
            }
        }
        guard fsync(output) == 0 else { throw FileFailure(target, "cannot be brought to disk") }
        try Ownership.take(target, mode: status.st_mode & S_IXUSR != 0 ? 0o755 : 0o644)
    }
}

/// Whose the files of installed plugins are.
enum Ownership {
    /// Makes a file or a folder this process's user's and group's, whatever the folder and the mask say.
    static func take(_ path: String, mode: mode_t) throws(FileFailure) {
        guard chown(path, geteuid(), getegid()) == 0, chmod(path, mode) == 0 else {
            throw FileFailure(path, "cannot be given its permissions")
        }
    }
}
