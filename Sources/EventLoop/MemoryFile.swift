import CLibuv
import Glibc

/// A file that exists only in memory, as long as a descriptor of it is open.
public struct MemoryFile: ~Copyable, Sendable {
    /// The descriptor. It is closed on exec, and with this value.
    public let descriptor: Int32

    /// Takes ownership of a descriptor.
    public init(adopting descriptor: Int32) { self.descriptor = descriptor }

    /// Creates a file with this content.
    ///
    /// - Parameter name: The name that /proc shows to people.
    /// - Throws: `ENOMEM`, `EMFILE`, `ENFILE`.
    public static func make(named name: String, content: [UInt8]) throws(SystemError) -> MemoryFile {
        let descriptor = clibuv_memory_file(name)
        guard descriptor >= 0 else { throw SystemError(code: errno, operation: "make a file in memory") }
        let file = MemoryFile(adopting: descriptor)
        try file.write(content)
        return file
    }

    /// Creates a copy of a file.
    ///
    /// - Parameter name: As in ``make(named:content:)``.
    /// - Throws: The errors of opening, reading and writing.
    public static func copy(of path: String, named name: String) throws(SystemError) -> MemoryFile {
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw SystemError(code: errno, operation: "open a file", subject: path) }
        defer { close(source) }
        let file = try make(named: name, content: [])
        while true {
            let count = sendfile(file.descriptor, source, nil, 1 << 30)
            if count == 0 { return file }
            if count < 0 { throw SystemError(code: errno, operation: "copy a file into memory", subject: path) }
        }
    }

    /// Keeps the file open until the process ends.
    ///
    /// - Returns: The path of this file in this process, which never refers to another file.
    public consuming func keep() -> String {
        let kept = descriptor
        discard self
        return "/proc/self/fd/\(kept)"
    }

    deinit { close(descriptor) }

    private func write(_ content: [UInt8]) throws(SystemError) {
        var written = 0
        while written < content.count {
            let count = content[written...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(written))
            }
            guard count > 0 else { throw SystemError(code: errno, operation: "write a file in memory") }
            written += count
        }
    }

    /// Returns the whole content, independent of the file offset.
    ///
    /// - Parameter limitBytes: The maximum size; a larger file is not one of ours.
    /// - Throws: `EFBIG` above the limit; `EINVAL` and others if the descriptor is not a file.
    public func content(limitBytes: Int) throws(SystemError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError(code: errno, operation: "examine a file") }
        let sizeBytes = Int(status.st_size)
        guard sizeBytes <= limitBytes else { throw SystemError(code: EFBIG, operation: "read a file in memory") }
        var bytes = [UInt8](repeating: 0, count: sizeBytes)
        var read = 0
        while read < sizeBytes {
            let count = bytes[read...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(read))
            }
            guard count > 0 else {
                throw SystemError(code: count == 0 ? EIO : errno, operation: "read a file in memory")
            }
            read += count
        }
        return bytes
    }
}
