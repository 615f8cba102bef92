import CLibuv
import Glibc

/// The path in the file system at which a server listens. It is claimed, so that two servers cannot use it, and removed
/// without touching another server's socket.
///
/// The claim is a lock on the file `PATH.lock`, held until the server ends. It prevents the race between two servers
/// that start together and both find a stale socket. A server of another kind is detected by connecting to it.
struct SocketFile {
    let path: String
    private let lock: Int32
    private let lockPath: String
    /// The socket that was bound here, which is removed at the end if it is still at the path; `nil` before.
    private var identity: FileIdentity?

    /// Claims `path` and removes a stale socket there.
    /// - Throws: `EADDRINUSE` if a server listens there, `EEXIST` if the path is not a socket, `EPERM` if it belongs to
    ///   another user, and the errors of the file system.
    init(claiming path: String) throws(SystemError) {
        self.path = path
        lockPath = path + ".lock"
        lock = try Self.lock(lockPath, for: path)
        do {
            try Self.clear(path)
        } catch {
            release()
            throw error
        }
    }

    /// Records the socket that was bound at the path.
    mutating func bound() throws(SystemError) {
        identity = try FileIdentity(path: path)
    }

    /// Sets the permissions of the bound socket.
    func setMode(_ mode: mode_t) throws(SystemError) {
        guard let identity, try FileIdentity.existing(at: path) == identity else {
            throw SystemError(
                code: ENOENT, operation: "set the permissions of", subject: path, advice: "the socket file was removed")
        }
        try systemCall("set the permissions of", path) { chmod(path, mode) }
    }

    /// Removes the bound socket and releases the claim.
    func release() {
        if let identity, (try? FileIdentity(path: path)) == identity { unlink(path) }
        // Removed while still locked. A server that locks this same file afterwards detects that it is no longer at the
        // path.
        unlink(lockPath)
        _ = close(lock)
    }

    private static func lock(_ lockPath: String, for path: String) throws(SystemError) -> Int32 {
        while true {
            let descriptor = try open(lockPath)
            do throws(SystemError) {
                let found = try FileIdentity(descriptor: descriptor)
                guard found.isOwn else { throw foreign(lockPath, "lock", found) }
                try systemCall("lock", lockPath) { flock(descriptor, LOCK_EX | LOCK_NB) }
                if (try? FileIdentity(path: lockPath)) == (try FileIdentity(descriptor: descriptor)) {
                    return descriptor
                }
            } catch {
                _ = close(descriptor)
                throw error.code == EWOULDBLOCK ? inUse(path) : error
            }
            // Its holder removed it between `open` and `flock`.
            _ = close(descriptor)
        }
    }

    private static func open(_ lockPath: String) throws(SystemError) -> Int32 {
        do throws(SystemError) {
            // A link that another user has placed there would cause a file to be created or locked at its target.
            return try systemCall("create", lockPath) {
                clibuv_open(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
            }
        } catch {
            guard error.code == ELOOP else { throw error }
            throw SystemError(
                code: ELOOP, operation: "lock", subject: lockPath,
                advice: "it is a symbolic link, which may lead anywhere: remove it or choose another path")
        }
    }

    private static func foreign(_ path: String, _ operation: String, _ found: FileIdentity) -> SystemError {
        SystemError(
            code: EPERM, operation: operation, subject: path,
            advice: "the existing file belongs to uid \(found.owner): remove it or choose another path")
    }

    private static func clear(_ path: String) throws(SystemError) {
        guard let found = try FileIdentity.existing(at: path) else { return }
        guard found.isSocket else {
            throw SystemError(
                code: EEXIST, operation: "listen at", subject: path,
                advice: found.isLink
                    ? "it is a symbolic link, which may lead anywhere: remove it or choose another path"
                    : "something that is not a socket is there: move it away or choose another path")
        }
        guard found.isOwn else { throw foreign(path, "listen at", found) }
        do throws(SystemError) {
            _ = try UnixSocket.connected(to: path)
        } catch {
            switch error.code {
            case ECONNREFUSED: try systemCall("remove the stale socket", path) { unlink(path) }
            case ENOENT: break
            case EAGAIN: throw inUse(path)
            default: throw error
            }
            return
        }
        throw inUse(path)
    }

    private static func inUse(_ path: String) -> SystemError {
        SystemError(
            code: EADDRINUSE, operation: "listen at", subject: path,
            advice: "another server is running there: stop it first or choose another path")
    }
}

/// The identity of a file, independent of its name.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t
    private let mode: mode_t
    /// The uid of the file's owner.
    let owner: uid_t

    /// Reads the identity of the file at `path`, without following symbolic links.
    init(path: String) throws(SystemError) {
        var status = stat()
        try systemCall("examine", path) { lstat(path, &status) }
        self.init(status)
    }

    init(descriptor: Int32) throws(SystemError) {
        var status = stat()
        try systemCall("examine a descriptor") { fstat(descriptor, &status) }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
        mode = status.st_mode
        owner = status.st_uid
    }

    /// Returns the identity like `init(path:)`; `nil` if no file exists there.
    static func existing(at path: String) throws(SystemError) -> FileIdentity? {
        do {
            return try FileIdentity(path: path)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    var isSocket: Bool { mode & S_IFMT == S_IFSOCK }
    var isLink: Bool { mode & S_IFMT == S_IFLNK }
    /// Whether it belongs to root, or to this process's user.
    var isOwn: Bool { owner == 0 || owner == geteuid() }

    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
    }
}
