import EventLoop
import TaskRuntime

extension PeerIdentity {
    /// Creates the identity from the kernel's report.
    init(_ peer: PeerCredentials) {
        self.init(uid: peer.uid, gid: peer.gid, pid: peer.pid, groups: peer.groups)
    }
}
