import CLibuv
import Glibc

// What the kernel reports about the other end.
extension UnixStream {
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
