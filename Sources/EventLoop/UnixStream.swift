import CLibuv
import Glibc

/// A connected Unix socket (or one end of a pipe) on the loop.
///
/// Reading and writing are system calls of our own on a descriptor that libuv only watches: one read per readiness into
/// a buffer that all streams share. An open stream is kept alive by the loop: end it with `close()`.
@LoopActor
public final class UnixStream {
    /// The receiver of its events. Held until `close()`: a weak reference would make every use of the delegate's other
    /// references slower too, for as long as it lives.
    @exclusivity(unchecked) public var delegate: (any UnixStreamDelegate)?
    /// The other end; for a pipe the ids stand for no one.
    public let peer: PeerCredentials
    /// Whether `close()` has not been called yet.
    public var isOpen: Bool { handle != nil }
    /// What one read takes at the most; no more than this is delivered at once.
    public var maximumReadBytes: Int {
        get { readBytes }
        set { readBytes = min(max(newValue, 1), Loop.readBufferBytes) }
    }
    @exclusivity(unchecked) private var readBytes = Loop.readBufferBytes

    /// Gets the descriptors that the peer sends, ahead of the bytes beside which they came; nil: they are lost.
    public var onDescriptor: ((consuming UnixSocket) -> Void)?

    var handle: LoopHandle<uv_poll_t>?
    /// The stream's own, until `close()`: for others to duplicate, or to send to another process.
    public let descriptor: Int32
    let isSocket: Bool

    var isReading = false
    var isSuspended = false
    /// Suspended, and a hang-up is looked for all the same.
    private var awaitsHangUp = false
    var wantsWritable = false
    /// The peer's half-close has been reported.
    var isAtEnd = false
    /// `hangUp` or `failed` has been reported: the descriptor is no longer watched.
    var isOver = false
    /// A write failed: no further one is tried.
    var isOutputBroken = false
    /// Whether it is among the loop's `streamsToWatch`, and among those that it is to suspend.
    private var isWatchPending = false
    private var isSuspensionPending = false
    /// The `uv_poll_event` bits that libuv watches at present.
    private var watched: UInt32 = 0

    /// Takes over a connected socket, or the end of a pipe. It is not read before `startReading`, but a hang-up is
    /// seen.
    /// - Throws: `EPERM` where the descriptor cannot be polled (a file), `ENOMEM`.
    public init(adopting socket: consuming UnixSocket) throws(SystemError) {
        let descriptor = socket.descriptor
        var peer = PeerCredentials(uid: .max, gid: .max, pid: 0)
        var isSocket = true
        do {
            peer = try PeerCredentials(of: descriptor)
        } catch  where error.code == ENOTSOCK {
            isSocket = false
        }
        // Also makes the descriptor non-blocking.
        let handle = try LoopHandle<uv_poll_t>("watch a descriptor") { uv_poll_init($0, $1, descriptor) }
        self.peer = peer
        self.isSocket = isSocket
        self.descriptor = socket.release()
        self.handle = handle
        handle.retain(self)
        watch()
    }

    /// Connects to the server at `path`, at once: Unix sockets know no connecting that takes time.
    /// - Throws: see `UnixSocket.connected(to:)`.
    public static func connect(path: String) throws(SystemError) -> UnixStream {
        try UnixStream(adopting: UnixSocket.connected(to: path))
    }

    /// Delivers what comes, from the next turn on.
    public func startReading() {
        isReading = true
        isSuspended = false
        awaitsHangUp = false
        watch()
    }

    /// Reads nothing more for now; what comes waits in the kernel. A hang-up is still reported, at once.
    public func stopReading() {
        isReading = false
        isSuspended = false
        awaitsHangUp = false
        watch()
    }

    /// Reads nothing for a moment, until `startReading`, and does not look for a hang-up either: it will be found
    /// behind what the peer had still sent.
    public func suspendReading() {
        isReading = false
        isSuspended = true
        awaitsHangUp = false
        watch()
    }

    /// As `suspendReading`, but a hang-up is reported at once where the peer had sent nothing more before it.
    public func awaitHangUp() {
        suspendReading()
        awaitsHangUp = true
        watch()
    }

    /// Ends our direction: the peer reads an end of input. Only for sockets.
    public func shutdownWrite() {
        guard handle != nil, isSocket else { return }
        // Fails only where the peer is gone already, which is reported on its own.
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the descriptor. Nothing is reported any longer. Further calls do nothing.
    public func close() {
        guard let handle else { return }
        self.handle = nil
        delegate = nil
        onDescriptor = nil
        // libuv has forgotten the descriptor when uv_close returns.
        handle.close()
        _ = Glibc.close(descriptor)
    }

    // MARK: Events

    private static let ready: uv_poll_cb = { handle, status, events in
        guard let stream = handle?.pointee.data else { return }
        Loop.shared.beginTurn()
        LoopActor.assumeIsolated(passing: (stream, status, UInt32(bitPattern: events))) { stream, status, events in
            // Not retained: the handle holds on to the stream until libuv has let go of it, later than this.
            Loop.shared.isHandingOutEvents = true
            Unmanaged<UnixStream>.fromOpaque(stream).withUnowned { $0.ready(status: status, events: events) }
            Loop.shared.isHandingOutEvents = false
        }
    }

    /// `status` is negative where poll reports an error; libuv has stopped watching then. UV_PRIORITIZED, where only
    /// that is watched, stands for a hang-up; out-of-band data would do so too, and no client sends those in good
    /// faith.
    private func ready(status: Int32, events: UInt32) {
        guard handle != nil else { return }
        if status < 0 { watched = 0 }
        if isSuspended {
            // What the peer had still sent comes first, and the hang-up behind it.
            if status < 0 { wantsWritable = false }
            if awaitsHangUp, status < 0 || events & UV_PRIORITIZED.rawValue != 0 {
                awaitsHangUp = false
                if !hasUnread { end(nil) }
            }
        } else if isReading && !isAtEnd {
            if status < 0 || events & UV_READABLE.rawValue != 0, delegate?.mayRead() ?? true { readOnce() }
        } else if status < 0 || events & UV_PRIORITIZED.rawValue != 0 {
            end(nil)
        }
        if events & UV_WRITABLE.rawValue != 0, wantsWritable, handle != nil, !isOver {
            wantsWritable = false
            delegate?.writable()
        }
        watch()
    }

    /// Reads, here and now, what the socket holds, as far as it is being read: before a connection is closed from this
    /// side, so that what the peer had sent by then is not lost.
    /// - Parameter limitBytes: where to stop with a peer that sends without end.
    public func readAvailable(limitBytes: Int) {
        var leftBytes = limitBytes
        while isReading, !isAtEnd, !isOver, handle != nil, leftBytes > 0 {
            let count = readOnce()
            guard count > 0 else { return }
            leftBytes -= count
        }
    }

    /// Reads once, here and now, if the stream is being read: where the delegate had let its turn pass.
    public func readNow() {
        if isReading, !isAtEnd, !isOver, handle != nil { readOnce() }
    }

    /// Returns the number of bytes delivered; 0 where there was none.
    @discardableResult
    private func readOnce() -> Int {
        let buffer = Loop.shared.readBuffer
        let count = uninterrupted {
            if onDescriptor != nil { return receive(buffer, readBytes) }
            return isSocket
                ? clibuv_receive(descriptor, buffer, readBytes) : clibuv_read(descriptor, buffer, readBytes)
        }
        if count > 0 {
            delegate?.read(bytes: UnsafeRawBufferPointer(start: buffer, count: count))
        } else if count == 0 {
            isAtEnd = true
            if isHungUp { end(nil) } else { delegate?.endOfInput() }
        } else {
            let code = errno
            if code == EAGAIN { return 0 }
            end(code == ECONNRESET || code == EPIPE ? nil : SystemError(code: code, operation: "read"))
        }
        return max(count, 0)
    }

    /// A hang-up (nil) or another failure: reported once.
    func end(_ error: SystemError?) {
        guard handle != nil, !isOver else { return }
        isOver = true
        watch()
        if let error { delegate?.failed(error) } else { delegate?.hangUp() }
    }

    /// Has libuv watch for what is wanted now, where that changed. Where there is nothing to read or reading is paused,
    /// UV_PRIORITIZED alone: the descriptor is polled then, and a hang-up is reported, but no input.
    ///
    /// While events are handed out, it waits for the turn's end: each change then has libuv look through all events of
    /// the poll.
    func watch() {
        guard handle != nil else { return }
        if !Loop.shared.isHandingOutEvents {
            applyWatch()
        } else if isSuspended, wantedEvents == 0 {
            guard !isSuspensionPending else { return }
            isSuspensionPending = Loop.shared.suspend(self)
            if !isSuspensionPending { applyWatch() }
        } else if !isWatchPending {
            isWatchPending = true
            Loop.shared.streamsToWatch.append(self)
        }
    }

    /// The turn ends.
    func endTurn() {
        isWatchPending = false
        applyWatch()
    }

    /// As ``endTurn()``, for one that is suspended. Returns whether libuv had to be called.
    func endSuspension() -> Bool {
        isSuspensionPending = false
        return applyWatch()
    }

    /// What libuv has to watch for now, as `uv_poll_event` bits.
    private var wantedEvents: UInt32 {
        guard !isOver else { return 0 }
        var wanted: UInt32 = 0
        if !isSuspended || awaitsHangUp {
            wanted = isReading && !isAtEnd ? UV_READABLE.rawValue : UV_PRIORITIZED.rawValue
        }
        return wantsWritable ? wanted | UV_WRITABLE.rawValue : wanted
    }

    @discardableResult
    private func applyWatch() -> Bool {
        guard let handle else { return false }
        let wanted = wantedEvents
        guard wanted != watched else { return false }
        watched = wanted
        if wanted == 0 {
            require(uv_poll_stop(handle.raw), "uv_poll_stop")
        } else {
            require(uv_poll_start(handle.raw, Int32(bitPattern: wanted), Self.ready), "uv_poll_start")
        }
        return true
    }
}
