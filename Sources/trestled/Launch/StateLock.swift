import EventLoop
import Glibc

/// The lock of the state directory, held by one daemon at a time. Released with this object, or when the process ends.
final class StateLock {
    private let descriptor: Int32

    /// Creates the directory if it does not exist, checks that it belongs to this user, and takes the lock.
    ///
    /// - Throws: ``SystemError`` if another daemon holds the lock, or if the directory cannot be used or trusted.
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
                    ? "another trestled uses it; stop that daemon, or give this one another directory with --state-dir"
                    : nil)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
