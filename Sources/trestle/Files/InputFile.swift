import Glibc

/// A file that is read sequentially. `-` is standard input.
///
/// Used by one thread at a time, which waits for input.
final class InputFile: Sendable {
    private let path: String
    private let descriptor: Int32
    /// The length; `nil` if it is not a regular file.
    let length: Int64?

    /// - Throws: ``UsageFailure`` if it is a terminal or a directory, or ``FileFailure``.
    init(_ path: String) throws {
        self.path = path == "-" ? "standard input" : path
        descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(path, "cannot be opened") }
        var status = stat()
        fstat(descriptor, &status)
        length = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
        guard isatty(descriptor) == 0 else {
            throw UsageFailure("\(self.path) is a terminal: name a file, or send one through a pipe")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw UsageFailure("\(path) is a directory") }
    }

    deinit { close(descriptor) }

    /// The time to wait for a pipe between two checks for cancellation.
    private static let timeoutMilliseconds: Int32 = 100

    /// Returns the next bytes; empty at the end.
    /// - Throws: ``FileFailure``; `CancellationError`.
    func read(count: Int) throws -> [UInt8] {
        while true {
            try Task.checkCancellation()
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, Self.timeoutMilliseconds) != 0 else { continue }
            var failed = false
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
                let status = Glibc.read(descriptor, bytes.baseAddress, count)
                failed = status < 0
                filled = max(0, status)
            }
            if !failed { return bytes }
            guard errno == EINTR || errno == EAGAIN else { throw FileFailure(path, "cannot be read") }
        }
    }
}

extension InputFile {
    private static let chunkBytes = 1 << 16

    /// Returns the whole contents.
    /// - Throws: ``FileFailure``; `CancellationError`.
    func contents() throws -> [UInt8] {
        var contents: [UInt8] = []
        while case let chunk = try read(count: Self.chunkBytes), !chunk.isEmpty { contents += chunk }
        return contents
    }
}
