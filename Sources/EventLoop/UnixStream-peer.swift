import CLibuv
import Glibc

// The kernel's information about the socket and its peer.
extension UnixStream {
    /// Returns the systemd unit in which the peer's process runs (``PeerUnit``); `nil` if the kernel does not report
    /// it. Reads a few small files of the kernel.
    public func peerUnit() -> String? { isOpen ? PeerUnit.name(ofPeerOf: descriptor) : nil }

    /// The socket's number, which is the same for all its descriptors in any process; `nil` if the stream is closed.
    public var inode: UInt64? { isOpen ? UnixSocket.inode(of: descriptor) : nil }

    /// Whether both directions have ended.
    var isHungUp: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return uninterrupted { poll(&state, 1, 0) } == 1 && Int32(state.revents) & (POLLHUP | POLLERR) != 0
    }

    /// Whether the peer has sent bytes that have not been read.
    var hasUnread: Bool {
        var byte: UInt8 = 0
        return uninterrupted { recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) } > 0
    }
}
