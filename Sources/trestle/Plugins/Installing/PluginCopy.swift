import EventLoop
import Glibc
import PrivateDaemon

/// Copies the files of a plugin into a folder: of a library only the library; of a manifest everything beside it except
/// hidden files, caches and manifests of other plugins. The copies belong to this process's user, and other users
/// cannot write them.
struct PluginCopy {
    /// The maximum number of files. With more, the folder probably does not contain only a plugin.
    private static let maximumFiles = 20_000
    private static let maximumBytes = 1 << 30
    private static let chunkBytes = 1 << 16

    private let plugin: String
    private var files = 0
    private var bytes = 0

    /// Copies the plugin of a file into an existing folder. Blocks.
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

    /// Returns whether a file is not part of a plugin, anywhere in its folder. A Python virtual environment is part of
    /// it.
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
            guard mkdir(target, 0o700) == 0 else { throw FileFailure(target, "cannot be created") }
            for name in try FolderContents.names(in: source) where !Self.isLeftOut(name) {
                try copyEntry("\(source)/\(name)", to: "\(target)/\(name)")
            }
            try Ownership.take(target, mode: 0o755)
        case S_IFLNK: try copyLink(source, to: target)
        case S_IFREG: try copyFile(source, to: target)
        // A socket or a pipe belongs to a running process and is not part of the plugin.
        default: break
        }
    }

    private mutating func count(_ status: stat) throws {
        files += 1
        bytes += status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
        guard files <= Self.maximumFiles, bytes <= Self.maximumBytes else {
            throw ProjectFailure(
                "more than \(Self.maximumFiles) files, or 1 GiB, are in the folder of \(plugin), and all of them would "
                    + "be installed: move it into a folder with only the files that its worker needs")
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
            // `!`: the buffer is not empty.
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
        guard output >= 0 else { throw FileFailure(target, "cannot be created") }
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
        guard fsync(output) == 0 else { throw FileFailure(target, "cannot be flushed to disk") }
        try Ownership.take(target, mode: status.st_mode & S_IXUSR != 0 ? 0o755 : 0o644)
    }
}

/// The owner of the files of installed plugins.
enum Ownership {
    /// Sets this process's user and group as the owner of a file or folder, and its mode, regardless of the folder and
    /// the umask.
    static func take(_ path: String, mode: mode_t) throws(FileFailure) {
        guard chown(path, geteuid(), getegid()) == 0, chmod(path, mode) == 0 else {
            throw FileFailure(path, "cannot be given its permissions")
        }
    }
}
