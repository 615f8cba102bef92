import CLibuv
import Glibc

/// The path in the file system where a server listens: claimed so that no two servers fight over it, and cleaned up
/// without ever touching another server's socket.
///
/// The claim is a lock on the file `PATH.lock`, held as long as the server lives. It closes the race between two
/// servers that start together and both find a stale socket; that a server of another kind listens there is found by
/// connecting.
struct SocketFile {
    let path: String
    private let lock: Int32
    private let lockPath: String
    /// The socket that we bound: what we remove at the end, if it is still ours.
    private var identity: FileIdentity?

    /// Claims `path` and removes a stale socket there.
    /// - Throws: `EADDRINUSE` where a server lives there, `EEXIST` where something else than a socket is there, `EPERM`
    ///   where it belongs to another user, and what the file system says.
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

    /// Remembers what was bound at the path.
    mutating func bound() throws(SystemError) {
        identity = try FileIdentity(path: path)
    }

    /// Sets the permissions of our socket.
    func setMode(_ mode: mode_t) throws(SystemError) {
        guard let identity, try FileIdentity.existing(at: path) == identity else {
            throw SystemError(
                code: ENOENT, operation: "set the permissions of", subject: path, advice: "the socket is gone")
        }
        try systemCall("set the permissions of", path) { chmod(path, mode) }
    }

    /// Removes our socket and gives the claim up.
    func release() {
        if let identity, (try? FileIdentity(path: path)) == identity { unlink(path) }
        // Removed while still locked; who waits for this very file notices that it is no longer the one at the path.
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
            // Its holder removed it between our open and our lock.
            _ = close(descriptor)
        }
    }

    private static func open(_ lockPath: String) throws(SystemError) -> Int32 {
        do throws(SystemError) {
            // A link that another user has put there would have a file made, or locked, wherever it leads.
            return try systemCall("create", lockPath) {
                clibuv_open(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
            }
        } catch {
            guard error.code == ELOOP else { throw error }
            throw SystemError(
                code: ELOOP, operation: "lock", subject: lockPath,
                advice: "a symbolic link is there, which may lead anywhere: remove it or choose another path")
        }
    }

    private static func foreign(_ path: String, _ operation: String, _ found: FileIdentity) -> SystemError {
        SystemError(
            code: EPERM, operation: operation, subject: path,
            advice: "what is there belongs to uid \(found.owner): remove it or choose another path")
    }

    private static func clear(_ path: String) throws(SystemError) {
        guard let found = try FileIdentity.existing(at: path) else { return }
        guard found.isSocket else {
            throw SystemError(
                code: EEXIST, operation: "listen at", subject: path,
                advice: found.isLink
                    ? "a symbolic link is there, which may lead anywhere: remove it or choose another path"
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

/// Which file it is, whatever it is called.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t
    private let mode: mode_t
    /// The uid of whom it belongs to.
    let owner: uid_t

    /// The file at `path`, symbolic links not followed.
    init(path: String) throws(SystemError) {
        var status = stat()
        try systemCall("look at", path) { lstat(path, &status) }
        self.init(status)
    }

    init(descriptor: Int32) throws(SystemError) {
        var status = stat()
        try systemCall("look at a descriptor") { fstat(descriptor, &status) }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
        mode = status.st_mode
        owner = status.st_uid
    }

    /// As `init(path:)`; nil where nothing is there.
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
