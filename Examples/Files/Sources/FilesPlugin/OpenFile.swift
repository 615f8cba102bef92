import Glibc
import Synchronization
import TaskKit

/// A file that is being written. It is closed by `close`, or when its last reference is released. Its functions block:
/// only the folder's thread calls them.
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
