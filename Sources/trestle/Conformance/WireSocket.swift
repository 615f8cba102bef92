import EventLoop
import Glibc

/// A connection that transfers bytes and lines without checking them: a client library would refuse to send most
/// contents of a vector. Blocking, with a deadline for each step; one thread.
final class WireSocket {
    /// A failure of the connection itself.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32
    private var input: [UInt8] = []
    /// The number of bytes that are known to contain no line end.
    private var searchedCount = 0
    private var hasEnded = false
    private let stepTimeoutMilliseconds: Int32

    /// - Parameter stepTimeout: The maximum time that a step waits for the daemon.
    init(path: String, stepTimeout: Duration) throws(Failure) {
        stepTimeoutMilliseconds = Int32(clamping: stepTimeout.components.seconds * 1_000)
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard descriptor >= 0, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            if descriptor >= 0 { Glibc.close(descriptor) }
            throw Failure(description: "no socket can be made for \(path)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // The C interface takes an address of any family as a pointer to the generic type.
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            let reason = SystemError(code: errno, operation: "connect").reason
            Glibc.close(descriptor)
            throw Failure(description: "no daemon answers at \(path): \(reason)")
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit { Glibc.close(descriptor) }

    /// Sends all bytes. Receives data only while sending is blocked, so that neither side waits for the other forever.
    /// Otherwise nothing is read, because a vector may represent a client that does not read.
    func send(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let events = try wait(for: POLLIN | POLLOUT, "the daemon does not read its input")
            guard events & POLLOUT != 0 else {
                readAvailable()
                if hasEnded { throw Failure(description: "the daemon closed the connection") }
                continue
            }
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno != EAGAIN && errno != EINTR {
                throw Failure(
                    description: "the connection failed: \(SystemError(code: errno, operation: "poll").reason)")
            }
        }
    }

    /// Returns the next line without its end; `nil` if the daemon closed the connection.
    func line() throws(Failure) -> String? {
        while true {
            if let end = lineEnd() {
                let line = String(decoding: input[..<end], as: UTF8.self)
                input.removeSubrange(...end)
                searchedCount = 0
                return line
            }
            searchedCount = input.count
            if hasEnded { return nil }
            _ = try wait(for: POLLIN, "nothing came")
            readAvailable()
        }
    }

    /// Returns the index of the first line end in the input; `nil` if there is none.
    private func lineEnd() -> Int? {
        input.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            let end = memchr(base + searchedCount, 0x0A, bytes.count - searchedCount)
            return end.map { UnsafeRawPointer($0) - base }
        }
    }

    /// Ends sending.
    func end() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func readAvailable() {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else {
                if count == 0 || (errno != EAGAIN && errno != EINTR) { hasEnded = true }
                return
            }
            input.append(contentsOf: chunk[..<count])
        }
    }

    private func wait(for events: Int32, _ reason: String) throws(Failure) -> Int32 {
        var ready = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        guard poll(&ready, 1, stepTimeoutMilliseconds) == 1 else {
            throw Failure(description: "\(reason) within \(stepTimeoutMilliseconds / 1_000) s")
        }
        let found = Int32(ready.revents)
        // Reading detects the end of the connection.
        return found & (POLLHUP | POLLERR) != 0 ? found | POLLIN : found
    }
}
