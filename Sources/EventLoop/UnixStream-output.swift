import CLibuv
import Glibc

// The output of a stream.
extension UnixStream {
    /// Writes the bytes that fit immediately, and never blocks. Returns the number of written bytes. If it is less than
    /// offered, `writable()` is called when there is space. Always returns 0 after the peer has disconnected, which
    /// `hangUp` reports.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard takesOutput, let start = bytes.baseAddress, bytes.count > 0 else { return 0 }
        // SIGPIPE: suppressed by flag for sockets, blocked on the loop thread for pipes.
        let count = uninterrupted {
            isSocket ? clibuv_send(descriptor, start, bytes.count) : Glibc.write(descriptor, start, bytes.count)
        }
        return noteWritten(count, of: bytes.count)
    }

    /// Handles the result of a write: the number of written bytes, or -1 with `errno`.
    private func noteWritten(_ count: Int, of offeredCount: Int) -> Int {
        if count == offeredCount { return count }
        if count < 0 {
            let code = errno
            if code != EAGAIN {
                outputFailed(code)
                return 0
            }
        }
        wantsWritable = true
        noteFull()
        watch()
        return max(count, 0)
    }

    /// Whether writes are attempted.
    private var takesOutput: Bool { isOpen && !isOutputBroken && !isOver }

    /// Ends the output: the peer reads an end of input. Only for sockets.
    public func shutdownWrite() {
        guard isOpen, isSocket else { return }
        // Fails only if the peer has disconnected, which is reported separately.
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Requests a call of `writable()` as soon as there is space, even if no write was incomplete.
    public func awaitRoom() {
        guard takesOutput else { return }
        wantsWritable = true
        watch()
    }

    /// Writes like ``write(_:)``, with a copy of a descriptor at the first byte. If bytes were written, the descriptor
    /// was sent, too, unless it cannot be sent: the bytes are then written without it.
    public func write(_ bytes: UnsafeRawBufferPointer, with passed: Int32) -> Int {
        guard takesOutput, let start = bytes.baseAddress, bytes.count > 0 else { return 0 }
        var passed = passed
        let count = uninterrupted { clibuv_send_beside(descriptor, start, bytes.count, &passed, 1) }
        // Too many unread descriptors are in the sockets of this process's user.
        if count < 0, errno == ETOOMANYREFS { return write(bytes) }
        return noteWritten(count, of: bytes.count)
    }

    /// Handles a failed write. If reading continues, now or later, it detects the hang-up itself, after the last bytes
    /// of the peer. Otherwise (the peer has only stopped reading, or another error) the end is reported from here, but
    /// not inside `write`.
    private func outputFailed(_ code: Int32) {
        isOutputBroken = true
        wantsWritable = false
        let isGone = code == EPIPE || code == ECONNRESET
        if isGone, isReading || isSuspended, !isAtEnd, isHungUp { return }
        EventLoop.post { self.end(isGone ? nil : SystemError(code: code, operation: "write")) }
    }
}
