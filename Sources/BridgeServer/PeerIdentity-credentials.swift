import EventLoop
import TaskRuntime

extension PeerIdentity {
    /// As the kernel reports it.
    init(_ peer: PeerCredentials) {
        self.init(uid: peer.uid, gid: peer.gid, pid: peer.pid, groups: peer.groups)
    }
}
