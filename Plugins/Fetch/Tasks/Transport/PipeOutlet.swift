import Glibc
import TaskKit

/// The pipe that a body goes into as it comes, without a turn of the loop for each piece. It is written as far as that
/// goes; the rest waits here. The thread of its network only.
struct PipeOutlet {
    /// Of the pipe's end, which does not block and is not this one's to close.
    let descriptor: Int32
    /// How many bytes the pipe has taken.
    private(set) var byteCount = 0
    /// What the pipe had no room for: a step of decoding, and at first what had come before.
    private var rest: [UInt8] = []

    // The pipe keeps its size: the kernel counts all pipes of the daemon against one limit of its user, and gives new
    // ones hardly any room where some are large.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Whether bytes wait for room.
    var isBlocked: Bool { !rest.isEmpty }

    /// Takes all of these bytes.
    ///
    /// - Throws: `stream.closed`, where nobody reads.
    mutating func put(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        let count = isBlocked ? 0 : try write(bytes)
        if count < bytes.count { rest += bytes[count...] }
    }

    /// Writes what waits, as far as there is room.
    ///
    /// - Throws: `stream.closed`, where nobody reads.
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
