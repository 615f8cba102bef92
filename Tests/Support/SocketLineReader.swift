import Glibc

/// A reader of lines from a socket, which waits until a deadline.
public final class SocketLineReader {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The index of the first line that has not been taken.
    private var start = 0
    /// Whether the stream has ended.
    public private(set) var hasEnded = false

    /// - Parameter descriptor: A socket, which the caller closes.
    public init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Returns the next line without its end; `nil` at the end of the stream.
    public func line(_ deadline: Deadline = Deadline()) throws -> [UInt8]? {
        while true {
            if let line = takeLine() { return line }
            if hasEnded { return nil }
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, deadline.millisecondsLeft) >= 0 || errno == EINTR else {
                throw TestFailure("poll failed")
            }
            if deadline.isOver { throw TestFailure("nothing came where a line was waited for") }
            fill()
        }
    }

    /// Returns a line that has been read; `nil` if there is none.
    public func takeLine() -> [UInt8]? {
        let end = buffer.withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(base + start, 0x0A, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
        guard let end else { return nil }
        let line = Array(buffer[start..<end])
        start = end + 1
        if start > 1 << 20 || start == buffer.count {
            buffer.removeFirst(start)
            start = 0
        }
        return line
    }

    /// Reads the available data without waiting.
    public func fill() {
        while !hasEnded {
            let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { chunk in
                let count = recv(descriptor, chunk.baseAddress, chunk.count, Int32(MSG_DONTWAIT))
                if count > 0 { buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count])) }
                return count
            }
            if count > 0 { continue }
            if count == 0 || errno != EAGAIN && errno != EINTR { hasEnded = true }
            return
        }
    }
}
