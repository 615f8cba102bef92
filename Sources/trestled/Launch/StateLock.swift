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

extension String {
    /// The folder that a path stands in; "." for a bare name.
    var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
