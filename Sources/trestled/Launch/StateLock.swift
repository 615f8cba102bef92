import EventLoop
import Glibc

/// The right to write the state directory, held by one daemon at a time. Given up when this goes, or with the process.
final class StateLock {
    private let descriptor: Int32

    /// Makes the directory, where it is missing, and takes the lock.
    ///
    /// - Throws: ``SystemError`` where another daemon holds it, or where the directory cannot be used.
    init(directory: String) throws(SystemError) {
        try Folder.make(directory, mode: 0o700)
        let path = "\(directory)/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(code: errno, operation: "open", subject: path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw SystemError(
                code: code, operation: "lock the state directory", subject: directory,
                advice: code == EWOULDBLOCK
                    ? "another trestled uses it; stop that one, or give this one another directory with --state-dir"
                    : nil)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}

/// Folders, as the daemon needs them.
enum Folder {
    /// Makes a folder and those around it, where they are missing.
    static func make(_ path: String, mode: mode_t) throws(SystemError) {
        guard mkdir(path, mode) != 0 else { return }
        switch errno {
        case EEXIST: return
        case ENOENT where path.parentFolder != path:
            try make(path.parentFolder, mode: 0o755)
            guard mkdir(path, mode) == 0 || errno == EEXIST else { fallthrough }
        default: throw SystemError(code: errno, operation: "make the directory", subject: path)
        }
    }
}

extension Folder {
    /// Who may write a folder may put a socket of their own in the place of ours, and be taken for the daemon.
    ///
    /// - Throws: ``SystemError`` where the folder belongs to neither root nor this user, or where everybody may write it
    ///   and take away what others put there.
    static func checkOwner(of path: String) throws(SystemError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemError(code: errno, operation: "look at", subject: path) }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw SystemError(
                code: EPERM, operation: "listen in", subject: path,
                advice: "the directory belongs to uid \(status.st_uid), who could put another socket in its place; "
                    + "choose another one with --socket")
        }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw SystemError(
                code: EPERM, operation: "listen in", subject: path,
                advice: "everybody may write the directory and could put another socket in its place; "
                    + "take that permission away: chmod o-w \(path)")
        }
    }
}

extension String {
    /// The folder that a path stands in; "." for a bare name.
    var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
