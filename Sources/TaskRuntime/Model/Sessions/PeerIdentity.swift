/// Who is at the other end of a connection, as the kernel reports it when the connection was made.
public struct PeerIdentity: Sendable, Hashable {
    /// User id.
    public var uid: UInt32
    /// Group id.
    public var gid: UInt32
    /// All groups that it is in, ``gid`` among them.
    public var gids: [UInt32]
    /// Process id at that time; the process may have ended since. For people to read, never to decide by.
    public var pid: Int32

    /// An identity.
    ///
    /// - Parameter groups: the groups that it is in beside `gid`.
    public init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        gids = [gid] + groups.filter { $0 != gid }
        self.pid = pid
    }
}
