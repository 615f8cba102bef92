import CLibuv
import Glibc

// What the kernel reports about the socket and its other end.
extension UnixStream {
    /// The systemd unit that the peer's process runs in: ``PeerUnit``. Reads two small files of the kernel's; nil where
    /// it does not say.
    public func peerUnit() -> String? { isOpen ? PeerUnit.name(ofPeerOf: descriptor) : nil }

    /// Which socket it is: the same number for every descriptor of it, in whatever process; nil: it is closed.
    public var inode: UInt64? { isOpen ? UnixSocket.inode(of: descriptor) : nil }

    /// Whether both directions have ended.
    var isHungUp: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return uninterrupted { poll(&state, 1, 0) } == 1 && Int32(state.revents) & (POLLHUP | POLLERR) != 0
    }

    /// Whether the peer has sent anything that has not been read.
    var hasUnread: Bool {
        var byte: UInt8 = 0
        return uninterrupted { recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) } > 0
    }
}
