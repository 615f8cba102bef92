import Glibc
import TestSupport

/// A connection that sends and receives lines. Blocking; one thread at a time.
final class LineClient {
    /// The maximum time for an answer. Only a failing test waits for so long.
    private static let timeoutMilliseconds: Int32 = 60_000

    private let descriptor: Int32
    private var received: [UInt8] = []
    private var hasEnded = false

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            throw TestFailure("no daemon answers at \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Sends a line unchanged, with a line end.
    func send(_ line: String) throws {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else {
                throw TestFailure("the daemon does not take what is sent: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Closes the sending side.
    func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns the next line without its end; `nil` if the daemon has closed the connection.
    func receive() throws -> String? {
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            if hasEnded { return nil }
            try readMore()
        }
    }

    private func readMore() throws {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, Self.timeoutMilliseconds) == 1 else {
            throw TestFailure("no answer came within \(Self.timeoutMilliseconds / 1000) s")
        }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &chunk, chunk.count)
        if count > 0 { received += chunk[..<count] } else { hasEnded = true }
    }
}
