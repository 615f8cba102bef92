import Glibc

/// Where the daemon's socket is, where nobody says.
struct SocketLocation {
    static let system = "/run/trestle/bridge.sock"

    var variable: (String) -> String?
    var exists: (String) -> Bool
    var uid: UInt32
    /// Whose a file is; nil where there is none.
    var owner: (String) -> UInt32?

    /// The place for this process.
    static func current() -> SocketLocation {
        SocketLocation(
            variable: { getenv($0).map { String(cString: $0) } }, exists: { access($0, F_OK) == 0 }, uid: geteuid(),
            owner: { path in
                var status = stat()
                return lstat(path, &status) == 0 ? status.st_uid : nil
            })
    }

    var path: String {
        if let given = variable("TRESTLE_SOCKET"), !given.isEmpty { return given }
        if uid == 0 || exists(Self.system) { return Self.system }
        if let directory = variable("XDG_RUNTIME_DIR"), !directory.isEmpty {
            return directory + "/trestle/bridge.sock"
        }
        // Where a daemon of this user's listens without a runtime directory. Anybody may make a directory in /tmp: one
        // that is not this user's is somebody else's trap.
        let directory = "/tmp/trestle-\(uid)"
        return owner(directory) == uid ? directory + "/bridge.sock" : Self.system
    }
}
