/// The identity of the process at the other end of a connection, as the kernel reported it when the connection was
/// made.
public struct PeerIdentity: Sendable, Hashable {
    /// The user id.
    public var uid: UInt32
    /// The group id.
    public var gid: UInt32
    /// All its groups, including ``gid``.
    public var gids: [UInt32]
    /// The process id at that time; the process may have ended since. For display only, never for decisions.
    public var pid: Int32

    /// Creates an identity.
    ///
    /// - Parameter groups: The groups in addition to `gid`.
    public init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        gids = [gid] + groups.filter { $0 != gid }
        self.pid = pid
    }
}
