import Glibc
import TestSupport

/// A port of 127.0.0.1 without a listener. No other program gets the port while this object exists.
final class UnusedPort {
    private let descriptor: Int32
    let number: UInt16

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard isBound else { throw TestFailure("no port of 127.0.0.1 can be had") }
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
