import CLibuv
import Glibc

/// Descriptors in the queue of a socket: the receiver of that one descriptor can take all of them out, once. For a
/// process that keeps descriptors for another one, and should keep one instead of thousands.
public struct DescriptorBundle: ~Copyable, Sendable {
    /// The end of a socket pair whose queue has the descriptors. Closed on exec, and with this value. Descriptors that
    /// were not taken out are closed with the last copy of it.
    public let descriptor: Int32

    /// Takes ownership of a descriptor.
    public init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Creates a bundle of copies of these descriptors.
    ///
    /// - Throws: `ETOOMANYREFS` if more descriptors are in the queues of sockets than the process may have open
    ///   (`RLIMIT_NOFILE`); `EAGAIN` if they do not fit into the queue, which takes far more than that; `EMFILE`,
    ///   `ENFILE`, `EBADF`.
    public static func make(of descriptors: [Int32]) throws(SystemError) -> DescriptorBundle {
        var ends: (queue: Int32, way: Int32) = (-1, -1)
        // A packet socket: each message is taken out separately, with all of its descriptors.
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let status = withUnsafeMutableBytes(of: &ends) {
            socketpair(AF_UNIX, kind, 0, $0.bindMemory(to: Int32.self).baseAddress)
        }
        guard status == 0 else { throw SystemError(code: errno, operation: "make a socket pair") }
        defer { close(ends.way) }
        let parcel = DescriptorBundle(adopting: ends.queue)
        for first in stride(from: 0, to: descriptors.count, by: maximumAtOnce) {
            let part = descriptors[first..<min(first + maximumAtOnce, descriptors.count)]
            let status = part.withUnsafeBufferPointer {
                clibuv_send_descriptors(ends.way, $0.baseAddress, $0.count)
            }
            guard status == 0 else { throw SystemError(code: errno, operation: "put descriptors into a socket") }
        }
        return parcel
    }

    private static let maximumAtOnce = Int(clibuv_maximum_descriptors)

    /// Takes all descriptors out, in their order, closed on exec. The caller must close them, also those that were
    /// taken out before an error.
    ///
    /// - Parameter take: Receives each of them.
    /// - Throws: `ENOTSOCK` and others if it is not a bundle.
    public func unpack(_ take: (Int32) -> Void) throws(SystemError) {
        var room = [Int32](repeating: -1, count: Self.maximumAtOnce)
        while true {
            let count = clibuv_receive_descriptors(descriptor, &room)
            guard count >= 0 else { throw SystemError(code: errno, operation: "take descriptors out of a socket") }
            if count == 0 { return }
            for taken in room[..<Int(count)] { take(taken) }
        }
    }
}
