import Glibc

/// Looks up the system's users and groups by name. Blocks, because a lookup may query a server.
struct AccountNames: Sendable {
    /// Returns a user's number; `nil` if there is no such user.
    var uid: @Sendable (String) -> UInt32?
    /// Returns a group's number; `nil` if there is no such group.
    var gid: @Sendable (String) -> UInt32?

    /// The lookup in the system's databases.
    static let system = AccountNames(
        uid: { name in getpwnam(name)?.pointee.pw_uid }, gid: { name in getgrnam(name)?.pointee.gr_gid })
}
