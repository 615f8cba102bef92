import CLibuv
import Glibc

/// A connected Unix socket (or one end of a pipe) on the loop.
///
/// Reading and writing are system calls on a descriptor of the loop's ``StreamPoll``: one read per readiness into a
/// buffer that all streams share. An open stream keeps itself alive: the owner must call `close()`.
@LoopActor
public final class UnixStream {
    /// The receiver of its events. Retained until `close()`: a weak reference would also slow down every use of other
    /// references to the delegate, for its whole lifetime.
    @exclusivity(unchecked) public var delegate: (any UnixStreamDelegate)?
    /// The peer; for a pipe the ids are meaningless.
    public let peer: PeerCredentials
    /// Whether `close()` has not been called yet.
    @exclusivity(unchecked) public private(set) var isOpen = true
    /// The maximum size of one read, and so of one delivery.
    public var maximumReadBytes: Int {
        get { readBytes }
        set { readBytes = min(max(newValue, 1), Loop.readBufferBytes) }
    }
    @exclusivity(unchecked) private var readBytes = Loop.readBufferBytes

    /// Called with the descriptors that the peer sends, before the bytes with which they were sent; `nil` to drop
    /// descriptors.
    @exclusivity(unchecked) public var onDescriptor: ((consuming UnixSocket) -> Void)?

    /// The descriptor, which the stream owns until `close()`. Other code may duplicate it, or send it to another
    /// process.
    public let descriptor: Int32
    let isSocket: Bool

    var isReading = false
    var isSuspended = false
    /// Whether a hang-up is reported although reading is suspended.
    private var awaitsHangUp = false
    var wantsWritable = false
    /// Whether the peer's half-close has been reported.
    var isAtEnd = false
    /// Whether `hangUp` or `failed` has been reported. The descriptor is no longer watched then.
    var isOver = false
    /// Whether a write has failed. No further write is attempted then.
    var isOutputBroken = false
    /// Whether its interest will be updated at the turn's end.
    private var isWatchPending = false
    /// The registered interest.
    private var watched: StreamPoll.Interest = []
    /// The events that were reported since and are not handled: they are not reported again.
    @exclusivity(unchecked) private var reported: StreamPoll.Interest = []
    /// Whether ``LateInput`` will check it.
    @exclusivity(unchecked) private var isLookedAtLater = false
    /// The number of next reads that check whether they stopped before the last byte.
    @exclusivity(unchecked) private var checkedReads = 0

    private static let input: StreamPoll.Interest = [.readable, .inputEnd]
    private static let broken: StreamPoll.Interest = [.hangUp, .failure]

    /// Takes ownership of a connected socket, or of the end of a pipe. It is not read before `startReading`, but a
    /// hang-up is reported.
    /// - Throws: `EPERM` if the descriptor cannot be polled (a file), `ENOMEM`.
    public init(adopting socket: consuming UnixSocket) throws(SystemError) {
        let descriptor = socket.descriptor
        var peer = PeerCredentials(uid: .max, gid: .max, pid: 0)
        var isSocket = true
        do {
            peer = try PeerCredentials(of: descriptor)
        } catch  where error.code == ENOTSOCK {
            isSocket = false
        }
        try systemCall("make a descriptor non-blocking") { clibuv_set_nonblocking(descriptor) }
        self.peer = peer
        self.isSocket = isSocket
        self.descriptor = descriptor
        try systemCall("watch a descriptor") { Loop.shared.streams.change(self, from: [], to: .hangUp) }
        watched = .hangUp
        _ = socket.release()
        // Released in `close()`.
        _ = Unmanaged.passRetained(self)
    }

    /// Connects to the server at `path`, immediately: the connection of a Unix socket takes no time.
    /// - Throws: See `UnixSocket.connected(to:)`.
    public static func connect(path: String) throws(SystemError) -> UnixStream {
        try UnixStream(adopting: UnixSocket.connected(to: path))
    }

    /// Starts the delivery of input, from the next turn on.
    public func startReading() {
        isReading = true
        isSuspended = false
        awaitsHangUp = false
        watch()
    }

    /// Stops reading for now; input waits in the kernel. A hang-up is still reported, immediately.
    public func stopReading() {
        isReading = false
        isSuspended = false
        awaitsHangUp = false
        watch()
    }

    /// Suspends reading for a short time, until `startReading`. A hang-up is not reported either: it is detected after
    /// the last input of the peer. The stream stays registered, which costs nothing.
    public func suspendReading() {
        isReading = false
        isSuspended = true
        awaitsHangUp = false
        watch()
    }

    /// Suspends reading like `suspendReading`, but reports a hang-up immediately if there is no unread input before it.
    public func awaitHangUp() {
        suspendReading()
        awaitsHangUp = true
        watch()
    }

    /// Closes the descriptor. Ends all reports. Further calls do nothing.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        delegate = nil
        onDescriptor = nil
        // Another process may have a copy of the descriptor, which would stay in the set.
        if !watched.isEmpty { Loop.shared.streams.change(self, from: watched, to: []) }
        _ = Glibc.close(descriptor)
        Loop.shared.streams.keepUntilHandedOut(self)
        Unmanaged.passUnretained(self).release()
    }

    // MARK: Events

    /// Handles events of the descriptor: those it is watched for, or a failure.
    func ready(_ found: StreamPoll.Interest) {
        guard isOpen else { return }
        // One counted reference for both calls of a read.
        let delegate = delegate
        reported.formUnion(found)
        let isBroken = found.contains(.failure)
        // A hang-up or a failure without other events is detected by the read or write that the stream waits for.
        let events = found.isSubset(of: Self.broken) ? found.union(watched) : found
        if isSuspended {
            // The last input of the peer comes first, then the hang-up.
            if isBroken { wantsWritable = false }
            if awaitsHangUp, !found.isDisjoint(with: Self.broken) {
                awaitsHangUp = false
                if !hasUnread { end(nil) }
            }
        } else if isReading && !isAtEnd {
            if isBroken || events.contains(.readable), delegate?.mayRead() ?? true { readOnce(for: delegate) }
        } else if !found.isDisjoint(with: Self.broken) {
            end(nil)
        }
        if !isBroken, events.contains(.writable), wantsWritable, isOpen, !isOver {
            wantsWritable = false
            self.delegate?.writable()
        }
        watch()
    }

    /// Reads the available input immediately, if reading is started. For use before this side closes a connection, so
    /// that input of the peer is not lost.
    /// - Parameter limitBytes: The number of bytes after which to stop, for a peer that sends continuously.
    public func readAvailable(limitBytes: Int) {
        defer { watch() }
        var leftBytes = limitBytes
        while isReading, !isAtEnd, !isOver, isOpen, leftBytes > 0 {
            let count = readOnce(for: delegate)
            guard count > 0 else { return }
            leftBytes -= count
        }
    }

    /// Reads once immediately, if reading is started. For a delegate that has skipped a read.
    public func readNow() {
        guard isReading, !isAtEnd, !isOver, isOpen else { return }
        readOnce(for: delegate)
        watch()
    }

    /// Reads once. Returns the number of delivered bytes; 0 if there were none.
    @discardableResult
    private func readOnce(for delegate: (any UnixStreamDelegate)?) -> Int {
        let buffer = Loop.shared.readBuffer
        // A read of a terminal or a pipe may also return only a part of the available bytes.
        var isCut = !isSocket
        let count = uninterrupted { receive(into: buffer, isCut: &isCut) }
        noteRead(count, isCut: isCut)
        // Its receiver may have closed the stream as it received a descriptor.
        guard isOpen else { return 0 }
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

    @inline(__always)
    private func receive(into buffer: UnsafeMutableRawPointer, isCut: inout Bool) -> Int {
        if onDescriptor != nil { return receive(buffer, readBytes, isCut: &isCut) }
        guard isSocket else { return clibuv_read(descriptor, buffer, readBytes) }
        if checkedReads > 0 { return receiveChecked(into: buffer, isCut: &isCut) }
        if !isLookedAtLater {
            isLookedAtLater = true
            LateInput.shared.lookLater(at: self)
        }
        return clibuv_receive(descriptor, buffer, readBytes)
    }

    /// Reads from a peer that may send descriptors. If it does, it is assumed to continue.
    @inline(never)
    private func receiveChecked(into buffer: UnsafeMutableRawPointer, isCut: inout Bool) -> Int {
        var isPart: Int32 = 0
        let count = clibuv_receive_checked(descriptor, buffer, readBytes, &isPart)
        isCut = isPart != 0
        checkedReads = isCut ? .max : checkedReads - 1
        return count
    }

    /// Schedules a read if the last read has left input.
    func lookForInput() {
        isLookedAtLater = false
        guard isOpen, !isOver, !isAtEnd, hasUnread else { return }
        checkedReads = max(checkedReads, 1)
        reported.insert(.readable)
        watch()
    }

    /// Records after a read whether there may be more input, which is not reported again.
    ///
    /// - Parameters:
    ///   - count: The number of read bytes; 0 at the end of input; negative for an error.
    ///   - isCut: Whether the read may have stopped before the last byte.
    private func noteRead(_ count: Int, isCut: Bool) {
        if count > 0, count == readBytes || isCut {
            reported.insert(.readable)
        } else if count <= 0 || reported.isDisjoint(with: [.inputEnd, .hangUp, .failure]) {
            reported.subtract(Self.input)
        }
    }

    /// Records that there is no space for output. An event reports when there is.
    func noteFull() { reported.remove(.writable) }

    /// Reports a hang-up (`nil`) or another failure, once.
    func end(_ error: SystemError?) {
        guard isOpen, !isOver else { return }
        isOver = true
        watch()
        if let error { delegate?.failed(error) } else { delegate?.hangUp() }
    }

    /// Updates the registered interest if it changed, or if it was reported and not handled. While events are
    /// delivered, the update waits for the turn's end: most changes are reverted by then.
    func watch() {
        guard isOpen, !isWatchPending else { return }
        let isChanged = wanted != watched
        guard isChanged || isToBeReportedAgain else { return }
        let streams = Loop.shared.streams
        if isChanged, !streams.isHandingOut { return applyWatch() }
        isWatchPending = true
        streams.changeAtTurnEnd(self)
    }

    /// Applies a postponed update at the end of the turn.
    func endTurn() {
        isWatchPending = false
        if isOpen, wanted != watched || isToBeReportedAgain { applyWatch() }
    }

    /// The interest to register. At the end of input, or if reading is stopped, only a hang-up.
    private var wanted: StreamPoll.Interest {
        guard !isOver else { return [] }
        let wanted = (isReading || isSuspended) && !isAtEnd ? Self.input : .hangUp
        return wantsWritable ? wanted.union(.writable) : wanted
    }

    private var isToBeReportedAgain: Bool {
        guard !reported.isEmpty, !isOver else { return false }
        if wantsWritable, reported.contains(.writable) { return true }
        if isSuspended { return awaitsHangUp && !reported.isDisjoint(with: Self.broken) }
        return !reported.isDisjoint(with: isReading && !isAtEnd ? Self.input.union(Self.broken) : Self.broken)
    }

    private func applyWatch() {
        let wanted = wanted
        // Fails only without memory: an open descriptor that was registered before can be registered.
        require(Loop.shared.streams.change(self, from: watched, to: wanted), "epoll_ctl")
        watched = wanted
        reported = []
    }
}
