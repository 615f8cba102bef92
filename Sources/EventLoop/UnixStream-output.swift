import CLibuv
import Glibc

// What is written to a stream.
extension UnixStream {
    /// Writes immediately what fits, and never blocks. Returns the number of bytes taken; where it is less than
    /// offered, `writable()` is called when there is room. 0 for good once the peer is gone, which `hangUp` then
    /// reports.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard takesOutput, let start = bytes.baseAddress, bytes.count > 0 else { return 0 }
        // SIGPIPE: suppressed by flag for sockets, blocked on the loop thread for pipes.
        let count = uninterrupted {
            isSocket ? clibuv_send(descriptor, start, bytes.count) : Glibc.write(descriptor, start, bytes.count)
        }
        return noteWritten(count, of: bytes.count)
    }

    /// The system has taken so many bytes, or -1 with `errno`.
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

    /// Whether a write is tried.
    private var takesOutput: Bool { isOpen && !isOutputBroken && !isOver }

    /// Ends our direction: the peer reads an end of input. Only for sockets.
    public func shutdownWrite() {
        guard isOpen, isSocket else { return }
        // Fails only where the peer is gone already, which is reported on its own.
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Has `writable()` be called as soon as there is room, though nothing was refused.
    public func awaitRoom() {
        guard takesOutput else { return }
        wantsWritable = true
        watch()
    }

    /// As ``write(_:)``, with a copy of a descriptor beside the first byte. Where bytes were taken, the descriptor was
    /// sent, or could not be: then the bytes go without it.
    public func write(_ bytes: UnsafeRawBufferPointer, with passed: Int32) -> Int {
        guard takesOutput, let start = bytes.baseAddress, bytes.count > 0 else { return 0 }
        var passed = passed
        let count = uninterrupted { clibuv_send_beside(descriptor, start, bytes.count, &passed, 1) }
        // Too many wait unread in the sockets of this process's user.
        if count < 0, errno == ETOOMANYREFS { return write(bytes) }
        return noteWritten(count, of: bytes.count)
    }

    /// Where reading goes on, now or later, it comes upon the hang-up by itself, behind what the peer had still sent.
    /// Otherwise (a peer that only refuses to read; another error) it is reported from here, though not inside `write`.
    private func outputFailed(_ code: Int32) {
        isOutputBroken = true
        wantsWritable = false
        let isGone = code == EPIPE || code == ECONNRESET
        if isGone, isReading || isSuspended, !isAtEnd, isHungUp { return }
        EventLoop.post { self.end(isGone ? nil : SystemError(code: code, operation: "write")) }
    }
}
