import BridgeJSON
import Glibc

/// A file that appears complete or not at all: it is written under another name and renamed at the end. `-` is standard
/// output.
///
/// Used by one thread at a time; every method waits for the disk.
final class OutputFile {
    /// The path; `nil` for standard output.
    private let path: String?
    private let temporaryPath: String
    private let descriptor: Int32
    private var isEnded = false

    /// - Parameters:
    ///   - overwrites: Whether it may replace an existing file.
    ///   - isShared: Whether others may read it, as far as the umask allows; otherwise only its owner may.
    /// - Throws: ``UsageFailure`` if the file already exists, or ``FileFailure``.
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

    /// Checks that the file may be written.
    ///
    /// - Throws: ``UsageFailure`` if it exists and must not be replaced, or if it is not a regular file.
    static func check(_ path: String, _ overwrites: Bool) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw UsageFailure("\(path) is not a regular file; - writes to standard output")
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

    /// Flushes it to disk under its final name.
    /// - Throws: ``FileFailure``; the new file does not exist then.
    func finish(overwrites: Bool) throws {
        guard let path else { return }
        defer { discard() }
        guard fsync(descriptor) == 0 else { throw FileFailure(path, "cannot be flushed to disk") }
        // Another program may have created it meanwhile.
        try Self.check(path, overwrites)
        guard rename(temporaryPath, path) == 0 else { throw FileFailure(path, "cannot be created") }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let directoryDescriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directoryDescriptor >= 0 else { return }
        fsync(directoryDescriptor)
        close(directoryDescriptor)
    }

    /// Removes the temporary file, unless it was finished.
    func discard() {
        guard path != nil, !isEnded else { return }
        isEnded = true
        close(descriptor)
        unlink(temporaryPath)
    }
}

/// The reason why a file cannot be read or written.
struct FileFailure: LocalFailure {
    static let code: ErrorCode = "file.failed"

    let description: String

    /// - Parameter what: The failed operation, such as "cannot be read". `errno` contains the reason.
    init(_ path: String, _ what: String) {
        description = "\(path) \(what): \(Failure.reason(errno))"
    }
}
