import Glibc
import Synchronization

/// A body in a file. Who holds this can read it, also when the file has been removed. Any thread; methods wait for the
/// disk.
final class BodyFile: Sendable {
    /// A failure of the system's.
    struct Failure: Error {
        let code: Int32
        var isFull: Bool { code == ENOSPC || code == EDQUOT }
    }

    /// 32 hexadecimal digits, which say nothing of the URL.
    let name: String
    private let descriptor: Int32
    /// Where the file is while it belongs to no entry; nil: it does belong to one.
    private let unfinished: Mutex<String?>

    init(name: String, descriptor: Int32, unfinished: String?) {
        (self.name, self.descriptor) = (name, descriptor)
        self.unfinished = Mutex(unfinished)
    }

    deinit {
        close(descriptor)
        if let path = unfinished.withLock({ $0 }) { unlink(path) }
    }

    /// The file belongs to an entry from now on.
    ///
    /// - Parameter path: Where it is to be.
    func adopt(at path: String) throws(Failure) {
        let code = unfinished.withLock { unfinished -> Int32 in
            guard let from = unfinished else { return 0 }
            if rename(from, path) != 0 { return errno }
            unfinished = nil
            return 0
        }
        if code != 0 { throw Failure(code: code) }
    }

    /// The bytes at a place; fewer at the end of the file.
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

    /// Writes bytes to a place.
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

    /// Brings it to disk.
    func flush() throws(Failure) { if fsync(descriptor) != 0 { throw Failure(code: errno) } }

    /// How long it is.
    var byteCount: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }
}
