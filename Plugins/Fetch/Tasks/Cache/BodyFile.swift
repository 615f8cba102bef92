import Glibc
import Synchronization

/// A body in an open file. It stays readable after the file was removed. Any thread. The methods wait for the disk.
final class BodyFile: Sendable {
    /// A failure of a system call.
    struct Failure: Error {
        let code: Int32
        var isFull: Bool { code == ENOSPC || code == EDQUOT }
    }

    /// The name of the file. In the store: 32 random hexadecimal digits that do not depend on the URL.
    let name: String
    private let descriptor: Int32
    /// The path of a file that belongs to no entry yet and is removed with this object; `nil` for other files.
    private let unfinished: Mutex<String?>

    init(name: String, descriptor: Int32, unfinished: String?) {
        (self.name, self.descriptor) = (name, descriptor)
        self.unfinished = Mutex(unfinished)
    }

    deinit {
        close(descriptor)
        if let path = unfinished.withLock({ $0 }) { unlink(path) }
    }

    /// Moves the file to its final path, because an entry uses it from now on.
    ///
    /// - Parameter path: The final path.
    func adopt(at path: String) throws(Failure) {
        let code = unfinished.withLock { unfinished -> Int32 in
            guard let from = unfinished else { return 0 }
            if rename(from, path) != 0 { return errno }
            unfinished = nil
            return 0
        }
        if code != 0 { throw Failure(code: code) }
    }

    /// Returns the bytes at a position; fewer at the end of the file.
    func read(_ count: Int, at offset: Int64) throws(Failure) -> [UInt8] {
        var done = 0
        var failure: Failure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            while done < count {
                let more = pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset) + done)
                if more < 0, errno == EINTR { continue }
                if more < 0 { failure = Failure(code: errno) }
                if more <= 0 { break }
                done += more
            }
            length = done
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes bytes at a position.
    func write(_ bytes: [UInt8], at offset: Int64) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(code: count < 0 ? errno : ENOSPC) }
            done += count
        }
    }

    /// Flushes the file to the disk.
    func flush() throws(Failure) { if fsync(descriptor) != 0 { throw Failure(code: errno) } }

    /// The length of the file; 0 if it cannot be determined.
    var byteCount: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }
}
