import Glibc
import TaskKit

/// The pipe that a body is written to as it arrives, without a turn of the loop for each piece. Bytes that do not fit
/// into the pipe wait here. Used only by the thread of its network.
struct PipeOutlet {
    /// The write end of the pipe. It is non-blocking, and this does not close it.
    let descriptor: Int32
    /// The number of bytes written into the pipe.
    private(set) var byteCount = 0
    /// The bytes that did not fit into the pipe: at most one decoding step, and initially the bytes that had arrived
    /// before.
    private var rest: [UInt8] = []

    // The size of the pipe is not changed. The kernel counts all pipes of the daemon against one limit of its user, so
    // large pipes would leave hardly any room for new ones.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Whether bytes wait for room.
    var isBlocked: Bool { !rest.isEmpty }

    /// Writes all of these bytes, or keeps them until there is room.
    ///
    /// - Throws: `stream.closed`, if the reader has closed the pipe.
    mutating func put(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        let count = isBlocked ? 0 : try write(bytes)
        if count < bytes.count { rest += bytes[count...] }
    }

    /// Writes the waiting bytes as far as there is room.
    ///
    /// - Throws: `stream.closed`, if the reader has closed the pipe.
    mutating func writeRest() throws(BridgeError) {
        guard isBlocked else { return }
        let waiting = rest
        let count = try waiting.withUnsafeBytes { bytes in
            Result { () throws(BridgeError) in try write(bytes) }
        }.get()
        rest = count == waiting.count ? [] : Array(waiting[count...])
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) -> Int {
        var done = 0
        while done < bytes.count {
            let part = bytes[done...]
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: part).baseAddress, part.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { break }
            guard count > 0 else { throw BridgeError(.streamClosed, "the reader has closed the stream") }
            done += count
        }
        byteCount += done
        return done
    }
}
