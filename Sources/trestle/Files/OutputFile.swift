import Glibc

/// A file that is there whole, or not at all: it is written under another name and renamed at the end. `-` is standard
/// output.
///
/// Used by one thread at a time; every method waits for the disk.
final class OutputFile {
    /// Nil: standard output.
    private let path: String?
    private let temporaryPath: String
    private let descriptor: Int32
    private var isEnded = false

    /// - Parameters:
    ///   - overwrites: whether it may take the place of a file that exists.
    ///   - isShared: whether others may read it, as far as the umask lets them; else it is its owner's alone.
    /// - Throws: the exit code where that exists already, or ``FileFailure``.
    init(_ path: String, overwrites: Bool, isShared: Bool = false) throws {
        guard path != "-" else {
            (self.path, temporaryPath, descriptor) = (nil, "", STDOUT_FILENO)
            return
        }
        try Self.check(path, overwrites)
        (temporaryPath, descriptor) = try SiblingPath.make(beside: path) {
            open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isShared ? 0o666 : 0o600)
        }
        self.path = path
    }

    /// Whether it may be written.
    ///
    /// - Throws: The exit code where it exists and may not be replaced, or is no file.
    static func check(_ path: String, _ overwrites: Bool) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw UsageFailure("\(path) is no regular file; - writes to standard output")
        }
        guard overwrites else { throw UsageFailure("\(path) exists; --force replaces it") }
    }

    var isStandardOutput: Bool { path == nil }

    /// Writes the next bytes.
    /// - Throws: ``FileFailure``.
    func write(_ bytes: [UInt8]) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure(path ?? "standard output", "cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    /// Brings it to disk under its own name.
    /// - Throws: ``FileFailure``; there is no file then.
    func finish(overwrites: Bool) throws {
        guard let path else { return }
        defer { discard() }
        guard fsync(descriptor) == 0 else { throw FileFailure(path, "cannot be brought to disk") }
        // It may have come to be meanwhile.
        try Self.check(path, overwrites)
        guard rename(temporaryPath, path) == 0 else { throw FileFailure(path, "cannot be made") }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let directoryDescriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directoryDescriptor >= 0 else { return }
        fsync(directoryDescriptor)
        close(directoryDescriptor)
    }

    /// Leaves nothing behind, unless it was finished.
    func discard() {
        guard path != nil, !isEnded else { return }
        isEnded = true
        close(descriptor)
        unlink(temporaryPath)
    }
}

/// Why a file cannot be read or written.
struct FileFailure: Error, CustomStringConvertible {
    let description: String

    /// - Parameter what: what cannot be done with it. The reason is `errno`.
    init(_ path: String, _ what: String) {
        description = "\(path) \(what): \(String(cString: strerror(errno)))"
    }
}
