import Glibc
import Sodium
import Synchronization
import TaskKit

/// A file that is sent or received as a stream. It is beside the database as long as the transfer lasts.
///
/// Any thread. Every method except `end` waits for the disk.
final class TransferFile: Sendable {
    private enum State {
        /// The file is not created yet.
        case reserved
        /// The file may be written. The descriptor is `nil` if it is written through its path.
        case open(Int32?)
        /// The file is only read.
        case sealed(Int32)
        case ended
    }

    let id: UInt64
    let session: SessionID
    let path: String
    // Held for every access to the descriptor, so that a closed descriptor is not used.
    private let state = Mutex(State.reserved)

    init(id: UInt64, session: SessionID, path: String) {
        (self.id, self.session, self.path) = (id, session, path)
    }

    /// Creates the file, empty and readable only by its owner.
    ///
    /// - Throws: `storage.full`, `storage.failed`; `call.cancelled` if it has ended already.
    func create() throws(BridgeError) {
        try state.withLock { state throws(BridgeError) in
            guard case .reserved = state else { throw BridgeError.cancelled }
            let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw BridgeError(systemCode: errno, "the copy cannot be created") }
            state = .open(descriptor)
        }
    }

    /// Makes the file read-only for this object's methods.
    func seal() throws(BridgeError) {
        try state.withLock { state throws(BridgeError) in
            guard case .open(let descriptor?) = state else { throw BridgeError.cancelled }
            state = .sealed(descriptor)
        }
    }

    /// Closes the descriptor, so that the file can be accessed only through its path.
    func release() throws(BridgeError) {
        try state.withLock { state throws(BridgeError) in
            switch state {
            case .open(let descriptor?), .sealed(let descriptor):
                state = .open(nil)
                close(descriptor)
            default: throw BridgeError.cancelled
            }
        }
    }

    /// Closes the descriptor. Later reads and writes throw `call.cancelled`. Does not wait for the disk; the file stays
    /// until `unlink`.
    func end() {
        state.withLock { state in
            switch state {
            case .open(let descriptor?), .sealed(let descriptor): close(descriptor)
            default: break
            }
            state = .ended
        }
    }

    /// Removes the file, and the files that SQLite may have created beside it.
    func unlink() {
        for suffix in ["", "-journal", "-wal", "-shm"] { Glibc.unlink(path + suffix) }
    }

    // MARK: Bytes

    /// - Returns: The bytes at an offset; fewer than `count` only at the end of the file.
    func read(at offset: Int64, count: Int) throws(BridgeError) -> [UInt8] {
        try withDescriptor(toWrite: false) { descriptor throws(BridgeError) in
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
                let room = UnsafeMutableRawBufferPointer(bytes)
                while filled < count {
                    // `!`: the buffer is not empty.
                    let status = pread(descriptor, room.baseAddress! + filled, count - filled, Int(offset) + filled)
                    if status < 0, errno == EINTR { continue }
                    if status < 0 { failure = errno }
                    if status <= 0 { return }
                    filled += status
                }
            }
            if failure != 0 { throw BridgeError(systemCode: failure, "the copy cannot be read") }
            return bytes
        }
    }

    /// Writes bytes at an offset.
    ///
    /// - Returns: The file's length.
    @discardableResult
    func write(_ bytes: [UInt8], at offset: Int64) throws(BridgeError) -> Int64 {
        try withDescriptor(toWrite: true) { descriptor throws(BridgeError) in
            var failure: Int32 = 0
            bytes.withUnsafeBytes { bytes in
                var written = 0
                while written < bytes.count {
                    // `!`: `bytes` is not empty.
                    let status = pwrite(
                        descriptor, bytes.baseAddress! + written, bytes.count - written, Int(offset) + written)
                    if status < 0, errno == EINTR { continue }
                    guard status >= 0 else {
                        failure = errno
                        return
                    }
                    written += status
                }
            }
            if failure != 0 { throw BridgeError(systemCode: failure, "the copy cannot be written") }
            return try length(of: descriptor)
        }
    }

    /// Returns the file's length in bytes.
    func length() throws(BridgeError) -> Int64 {
        try withDescriptor(toWrite: false) { descriptor throws(BridgeError) in try length(of: descriptor) }
    }

    private func length(of descriptor: Int32) throws(BridgeError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw BridgeError(systemCode: errno, "the size of the copy cannot be read")
        }
        return Int64(status.st_size)
    }

    /// Returns the hash of the whole file.
    func sha256(_ interruption: Interruption) throws(BridgeError) -> String {
        var hash = SHA256()
        var offset: Int64 = 0
        while true {
            try interruption.check()
            let bytes = try read(at: offset, count: Limits.partBytes)
            if bytes.isEmpty { return hash.finish() }
            bytes.withUnsafeBytes { hash.update($0) }
            offset += Int64(bytes.count)
        }
    }

    private func withDescriptor<T: Sendable>(
        toWrite: Bool, _ body: (Int32) throws(BridgeError) -> T
    ) throws(BridgeError) -> T {
        try state.withLock { state throws(BridgeError) in
            switch state {
            case .open(let descriptor?): return try body(descriptor)
            case .sealed(let descriptor) where !toWrite: return try body(descriptor)
            default: throw BridgeError.cancelled
            }
        }
    }
}
