import EventLoop
import Glibc

/// The right to write the state directory, held by one daemon at a time. Given up when this goes, or with the process.
final class StateLock {
    private let descriptor: Int32

    /// Makes the directory, where it is missing, sees to it that it belongs to no other user, and takes the lock.
    ///
    /// - Throws: ``SystemError`` where another daemon holds it, or where the directory cannot be used, or not be
    ///   trusted.
    init(directory: String) throws(SystemError) {
        try StateDirectory.secure(directory)
        let path = "\(directory)/\(StateDirectory.lock)"
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
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
