import Glibc

/// The location of the daemon's socket if the program does not name it.
package struct SocketLocation {
    /// The socket path of the system's daemon.
    package static let system = "/run/trestle/bridge.sock"

    private let variable: (String) -> String?
    private let exists: (String) -> Bool
    private let uid: UInt32
    private let owner: (String) -> UInt32?

    /// - Parameters:
    ///   - variable: Returns an environment variable.
    ///   - exists: Whether a file exists at a path.
    ///   - uid: The user id of this process.
    ///   - owner: Returns the user id of a file's owner; `nil` if there is no file.
    package init(
        variable: @escaping (String) -> String?, exists: @escaping (String) -> Bool, uid: UInt32,
        owner: @escaping (String) -> UInt32?
    ) {
        self.variable = variable
        self.exists = exists
        self.uid = uid
        self.owner = owner
    }

    /// Returns the location for this process.
    package static func current() -> SocketLocation {
        SocketLocation(
            variable: { getenv($0).map { String(cString: $0) } }, exists: { access($0, F_OK) == 0 }, uid: geteuid(),
            owner: { path in
                var status = stat()
                return lstat(path, &status) == 0 ? status.st_uid : nil
            })
    }

    /// The path in `TRESTLE_SOCKET`, else this user's own socket. The system's socket for root, for a user without an
    /// own path, and if only the system's exists.
    package var path: String {
        if let given = variable("TRESTLE_SOCKET"), !given.isEmpty { return given }
        guard uid != 0, let own, exists(own) || !exists(Self.system) else { return Self.system }
        return own
    }

    /// The socket path of the user's own systemd unit; `nil` without a runtime directory.
    package var ofUserUnit: String? {
        guard let directory = variable("XDG_RUNTIME_DIR"), !directory.isEmpty else { return nil }
        return directory + "/trestle/bridge.sock"
    }

    /// The socket path of a daemon of this user; `nil` if there is none.
    private var own: String? {
        if let ofUserUnit { return ofUserUnit }
        // There is no runtime directory. Any user may create a directory in /tmp: another user's directory of this name
        // is a trap.
        let directory = "/tmp/trestle-\(uid)"
        return owner(directory) == uid ? directory + "/bridge.sock" : nil
    }
}
