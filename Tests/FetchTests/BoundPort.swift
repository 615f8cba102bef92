import Glibc
import TestSupport

/// A port on 127.0.0.1 that the kernel chose and will not soon assign again.
final class BoundPort {
    let number: Int
    private let socket: Int32
    private var address: sockaddr_in
    private var clients: [Int32] = []

    init() throws {
        socket = Self.makeSocket()
        var bound = sockaddr_in()
        bound.sin_family = sa_family_t(AF_INET)
        bound.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let socket = socket
        let isBound = Self.with(&bound) { address, size in
            var size = size
            return bind(socket, address, size) == 0 && getsockname(socket, address, &size) == 0
        }
        number = Int(UInt16(bigEndian: bound.sin_port))
        address = bound
        guard socket >= 0, isBound else { throw TestFailure("no port can be bound") }
    }

    deinit { for descriptor in clients + [socket] { close(descriptor) } }

    /// Accepts connections in the kernel; they are never read.
    func listen() { Glibc.listen(socket, 16) }

    /// Fills the backlog, so that no further connection is established.
    func listenWithoutRoom() {
        Glibc.listen(socket, 0)
        for _ in 0..<4 {
            let client = Self.makeSocket()
            clients.append(client)
            // The socket does not block; the connection may never be established.
            _ = Self.with(&address) { connect(client, $0, $1) }
        }
    }

    private static func makeSocket() -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        return Glibc.socket(AF_INET, kind, 0)
    }

    private static func with<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
