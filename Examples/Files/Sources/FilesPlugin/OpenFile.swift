import Glibc
import Synchronization
import TaskKit

/// An open file. It is closed by `close`, or when its last reference is released. Its functions block: only the
/// folder's thread calls them.
final class OpenFile: Sendable {
    let name: FileName
    /// The descriptor; -1 if it is closed.
    private let opened: Atomic<CInt>
    private var descriptor: CInt { opened.load(ordering: .relaxed) }

    init(_ descriptor: CInt, _ name: FileName) {
        opened = Atomic(descriptor)
        self.name = name
    }

    deinit { close() }

    func close() {
        let descriptor = opened.exchange(-1, ordering: .relaxed)
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
    }

    /// Returns the size of the file.
    ///
    /// - Throws: `files.not_a_file`.
    func byteCount() throws -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure.system(errno, "reading", name.text) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure.notAFile(name.text) }
        return Int(status.st_size)
    }

    /// Returns the next bytes; empty at the end of the file.
    func read(atMost count: Int) throws -> [UInt8] {
        var failure: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let result = Glibc.read(descriptor, buffer.baseAddress, count)
            failure = result < 0 ? errno : 0
            filled = max(0, result)
        }
        guard failure == 0 else { throw Failure.system(failure, "reading", name.text) }
        return bytes
    }

    /// Writes all of these bytes.
    func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let result = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard result >= 0 else { throw Failure.system(errno, "writing", name.text) }
            written += result
        }
    }

    /// Waits until the written bytes are on the disk.
    func sync() throws {
        guard fsync(descriptor) == 0 else { throw Failure.system(errno, "writing", name.text) }
    }
}
