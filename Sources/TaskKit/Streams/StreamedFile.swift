internal import Glibc

/// The reason why a file cannot be sent as a stream. If a task throws it, the caller gets `internal`, and the daemon's
/// log contains the description.
public struct FileStreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path; `nil` if the file was given by a descriptor.
    public let path: String?
    /// The system's error number, such as `ENOENT`; `nil` if it is not a regular file.
    public let errorNumber: CInt?

    /// The file and the reason, for a log.
    public var description: String {
        let name = path ?? "the descriptor"
        guard let errorNumber else { return "\(name) is not a regular file" }
        return "\(name) cannot be read: \(String(cString: strerror(errorNumber)))"
    }
}

/// A regular file whose bytes are sent as a stream. Any thread; its functions block. The descriptor is closed when the
/// last reference is released.
final class StreamedFile: Sendable {
    /// The maximum number of bytes of one read. It is the size of a pipe.
    private static let chunkBytes = 64 << 10

    private let descriptor: CInt
    private let path: String?

    init(path: String) throws(FileStreamError) {
        // Opening a pipe without `O_NONBLOCK` would wait for its other end.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        self.path = path
        guard descriptor >= 0 else { throw FileStreamError(path: path, errorNumber: errno) }
    }

    /// - Parameter descriptor: This object owns it from now on.
    init(_ descriptor: CInt) { (self.descriptor, path) = (descriptor, nil) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the size of the file.
    func byteCount() throws(FileStreamError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileStreamError(path: path, errorNumber: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileStreamError(path: path, errorNumber: nil) }
        return Int(status.st_size)
    }

    /// Returns the next bytes from a position on, at least one. The error is for the stream's reader, and has no path.
    func read(at position: Int, end: Int) -> Result<[UInt8], BridgeError> {
        let wanted = min(end - position, Self.chunkBytes)
        var failure: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
            failure = count < 0 ? errno : 0
            filled = max(0, count)
        }
        guard failure == 0 else {
            return .failure(
                BridgeError(.internal, "the file of the stream cannot be read: \(String(cString: strerror(failure)))"))
        }
        guard !bytes.isEmpty else {
            return .failure(BridgeError(.internal, "the file of the stream has become shorter than \(end) bytes"))
        }
        return .success(bytes)
    }
}
