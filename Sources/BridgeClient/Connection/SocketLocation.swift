import Glibc

/// Where the daemon's socket is, where the program does not name it.
package struct SocketLocation {
    /// Where the machine's own daemon listens.
    package static let system = "/run/trestle/bridge.sock"

    private let variable: (String) -> String?
    private let exists: (String) -> Bool
    private let uid: UInt32
    private let owner: (String) -> UInt32?

    /// - Parameters:
    ///   - variable: A variable of the environment.
    ///   - exists: Whether there is a file at a path.
    ///   - uid: Whose process this is.
    ///   - owner: Whose a file is; nil where there is none.
    package init(
        variable: @escaping (String) -> String?, exists: @escaping (String) -> Bool, uid: UInt32,
        owner: @escaping (String) -> UInt32?
    ) {
        self.variable = variable
        self.exists = exists
        self.uid = uid
        self.owner = owner
    }

    /// The location for this process.
    package static func current() -> SocketLocation {
        SocketLocation(
            variable: { getenv($0).map { String(cString: $0) } }, exists: { access($0, F_OK) == 0 }, uid: geteuid(),
            owner: { path in
                var status = stat()
                return lstat(path, &status) == 0 ? status.st_uid : nil
            })
    }

    /// The one that is named, else this user's own where there is one, else the system's where there is one.
    package var path: String {
        if let given = variable("TRESTLE_SOCKET"), !given.isEmpty { return given }
        guard uid != 0, let own, exists(own) || !exists(Self.system) else { return Self.system }
        return own
    }

    /// Where the user's own socket unit listens; nil: nowhere.
    package var ofUserUnit: String? {
        guard let directory = variable("XDG_RUNTIME_DIR"), !directory.isEmpty else { return nil }
        return directory + "/trestle/bridge.sock"
    }

    /// Where a daemon of this user's listens; nil: nowhere.
    private var own: String? {
        if let ofUserUnit { return ofUserUnit }
        // Without a runtime directory. Any user may make a directory in /tmp: one that is not this user's is a trap set
        // by another user.
        let directory = "/tmp/trestle-\(uid)"
        return owner(directory) == uid ? directory + "/bridge.sock" : nil
    }
}
