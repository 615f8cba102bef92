import Glibc

/// Users and groups of this machine by their names. Looking one up may ask a server: it blocks.
struct AccountNames: Sendable {
    /// A user's number; nil: there is none.
    var uid: @Sendable (String) -> UInt32?
    /// A group's number; nil: there is none.
    var gid: @Sendable (String) -> UInt32?

    /// Those of this machine.
    static let system = AccountNames(
        uid: { name in getpwnam(name)?.pointee.pw_uid }, gid: { name in getgrnam(name)?.pointee.gr_gid })
}
