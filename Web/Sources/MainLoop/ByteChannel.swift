internal import Glibc

/// A channel of bytes to a reader with a descriptor. If the writer is released without ``finish()``, the reader gets an
/// error instead of the end, so it does not mistake a part for the whole.
@MainActor
public final class ByteChannel {
    private let descriptor: Int32
    private var isOpen = true
    private var output: LoopSource?

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    isolated deinit { end() }

    /// Creates a channel and the descriptor of its reader; `nil` if no descriptors are available.
    public static func make() -> (writer: ByteChannel, reader: Int32)? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        let (own, reader) = (ends[0], ends[1])
        // A byte to the writer. Closing a socket with unread bytes resets the connection.
        var mark: UInt8 = 0
        guard fcntl(own, F_SETFL, O_NONBLOCK) == 0, Glibc.write(reader, &mark, 1) == 1 else {
            close(own)
            close(reader)
            return nil
        }
        return (ByteChannel(own), reader)
    }

    /// Writes bytes, and waits while the reader is slow. One write at a time.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: Whether they were written: false if the reader has closed its end.
    public func write(_ bytes: [UInt8]) async -> Bool {
        var rest = bytes[...]
        while isOpen, !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if sent >= 0 {
                rest = rest.dropFirst(sent)
            } else if errno == EAGAIN {
                await awaitRoom()
            } else if errno != EINTR {
                return false
            }
        }
        return isOpen
    }

    private func awaitRoom() async {
        await withCheckedContinuation { continuation in
            output = .watching(descriptor, for: .output) { [weak self] in
                self?.output?.cancel()
                continuation.resume()
            }
        }
    }

    /// Ends the channel: all bytes were written.
    public func finish() {
        var mark: UInt8 = 0
        guard isOpen, read(descriptor, &mark, 1) == 1 else { return end() }
        end()
    }

    private func end() {
        guard isOpen else { return }
        isOpen = false
        close(descriptor)
    }
}
