import CLibuv
import Glibc

/// A connected Unix socket (or one end of a pipe) on the loop.
///
/// Reading and writing are system calls on a descriptor of the loop's ``StreamPoll``: one read per readiness into a
/// buffer that all streams share. An open stream keeps itself alive: end it with `close()`.
@LoopActor
public final class UnixStream {
    /// The receiver of its events. Held until `close()`: a weak reference would make every use of the delegate's other
    /// references slower too, for as long as it lives.
    @exclusivity(unchecked) public var delegate: (any UnixStreamDelegate)?
    /// The other end; for a pipe the ids stand for no one.
    public let peer: PeerCredentials
    /// Whether `close()` has not been called yet.
    @exclusivity(unchecked) public private(set) var isOpen = true
    /// What one read takes at the most; no more than this is delivered in one call.
    public var maximumReadBytes: Int {
        get { readBytes }
        set { readBytes = min(max(newValue, 1), Loop.readBufferBytes) }
    }
    @exclusivity(unchecked) private var readBytes = Loop.readBufferBytes

    /// Gets the descriptors that the peer sends, ahead of the bytes beside which they came; nil: they are lost.
    public var onDescriptor: ((consuming UnixSocket) -> Void)?

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
    /// Whether it is to be asked at the turn's end what it waits for.
    private var isWatchPending = false
    /// What it is watched for at present.
    private var watched: StreamPoll.Interest = []
    /// What was reported since and has not been used up: it is not reported again.
    @exclusivity(unchecked) private var reported: StreamPoll.Interest = []
    /// Whether ``LateInput`` will look at it.
    @exclusivity(unchecked) private var isLookedAtLater = false
    /// How many of the next reads are to report whether they stopped before the last byte.
    @exclusivity(unchecked) private var checkedReads = 0

    private static let input: StreamPoll.Interest = [.readable, .inputEnd]
    private static let broken: StreamPoll.Interest = [.hangUp, .failure]

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
        try systemCall("make a descriptor non-blocking") { clibuv_set_nonblocking(descriptor) }
        self.peer = peer
        self.isSocket = isSocket
        self.descriptor = descriptor
        try systemCall("watch a descriptor") { Loop.shared.streams.change(self, from: [], to: .hangUp) }
        watched = .hangUp
        _ = socket.release()
        // Until it is closed.
        _ = Unmanaged.passRetained(self)
    }

    /// Connects to the server at `path`, immediately: Unix sockets know no connecting that takes time.
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

    /// Reads nothing more for now; what comes waits in the kernel. A hang-up is still reported, immediately.
    public func stopReading() {
        isReading = false
        isSuspended = false
        awaitsHangUp = false
        watch()
    }

    /// Reads nothing for a moment, until `startReading`, and does not look for a hang-up either: it will be found
    /// behind what the peer had still sent. It stays watched, which costs nothing.
    public func suspendReading() {
        isReading = false
        isSuspended = true
        awaitsHangUp = false
        watch()
    }

    /// As `suspendReading`, but a hang-up is reported immediately where the peer had sent nothing more before it.
    public func awaitHangUp() {
        suspendReading()
        awaitsHangUp = true
        watch()
    }

    /// Closes the descriptor. Nothing is reported any longer. Further calls do nothing.
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

    /// The descriptor can do what is watched for, or is broken.
    func ready(_ found: StreamPoll.Interest) {
        guard isOpen else { return }
        reported.formUnion(found)
        let isBroken = found.contains(.failure)
        // Of a hang-up or a failure alone, the stream learns by the reading or writing that it waits for.
        let events = found.isSubset(of: Self.broken) ? found.union(watched) : found
        if isSuspended {
            // What the peer had still sent comes first, and the hang-up behind it.
            if isBroken { wantsWritable = false }
            if awaitsHangUp, !found.isDisjoint(with: Self.broken) {
                awaitsHangUp = false
                if !hasUnread { end(nil) }
            }
        } else if isReading && !isAtEnd {
            if isBroken || events.contains(.readable), delegate?.mayRead() ?? true { readOnce() }
        } else if !found.isDisjoint(with: Self.broken) {
            end(nil)
        }
        if !isBroken, events.contains(.writable), wantsWritable, isOpen, !isOver {
            wantsWritable = false
            delegate?.writable()
        }
        watch()
    }

    /// Reads, here and now, what the socket holds, as far as it is being read: before a connection is closed from this
    /// side, so that what the peer had sent by then is not lost.
    /// - Parameter limitBytes: where to stop with a peer that sends without end.
    public func readAvailable(limitBytes: Int) {
        defer { watch() }
        var leftBytes = limitBytes
        while isReading, !isAtEnd, !isOver, isOpen, leftBytes > 0 {
            let count = readOnce()
            guard count > 0 else { return }
            leftBytes -= count
        }
    }

    /// Reads once, here and now, if the stream is being read: where the delegate had let its turn pass.
    public func readNow() {
        guard isReading, !isAtEnd, !isOver, isOpen else { return }
        readOnce()
        watch()
    }

    /// Returns the number of bytes delivered; 0 where there was none.
    @discardableResult
    private func readOnce() -> Int {
        let buffer = Loop.shared.readBuffer
        // Bytes of a terminal or a pipe may come in parts, too.
        var isCut = !isSocket
        let count = uninterrupted { receive(into: buffer, isCut: &isCut) }
        noteRead(count, isCut: isCut)
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

    /// The peer may send descriptors; where it does, it is assumed to go on.
    @inline(never)
    private func receiveChecked(into buffer: UnsafeMutableRawPointer, isCut: inout Bool) -> Int {
        var isPart: Int32 = 0
        let count = clibuv_receive_checked(descriptor, buffer, readBytes, &isPart)
        isCut = isPart != 0
        checkedReads = isCut ? .max : checkedReads - 1
        return count
    }

    /// Reads again, where there is input that the last read may have left.
    func lookForInput() {
        isLookedAtLater = false
        guard isOpen, !isOver, !isAtEnd, hasUnread else { return }
        checkedReads = max(checkedReads, 1)
        reported.insert(.readable)
        watch()
    }

    /// Notes after a read whether there may be more input, which is not reported again.
    ///
    /// - Parameters:
    ///   - count: The bytes read; 0 at the end of input; negative where there are none.
    ///   - isCut: Whether the read may have stopped before the last byte.
    private func noteRead(_ count: Int, isCut: Bool) {
        if count > 0, count == readBytes || isCut {
            reported.insert(.readable)
        } else if count <= 0 || reported.isDisjoint(with: [.inputEnd, .hangUp, .failure]) {
            reported.subtract(Self.input)
        }
    }

    /// There is no room for output: when there is some, an event comes.
    func noteFull() { reported.remove(.writable) }

    /// A hang-up (nil) or another failure: reported once.
    func end(_ error: SystemError?) {
        guard isOpen, !isOver else { return }
        isOver = true
        watch()
        if let error { delegate?.failed(error) } else { delegate?.hangUp() }
    }

    /// Has what is wanted now be watched for, where that changed, or where it was reported and not used up. While
    /// events are handed out, the change waits for the turn's end: most changes are revoked by then.
    func watch() {
        guard isOpen, !isWatchPending else { return }
        let isChanged = wanted != watched
        guard isChanged || isToBeReportedAgain else { return }
        let streams = Loop.shared.streams
        if isChanged, !streams.isHandingOut { return applyWatch() }
        isWatchPending = true
        streams.changeAtTurnEnd(self)
    }

    /// The turn ends.
    func endTurn() {
        isWatchPending = false
        if isOpen, wanted != watched || isToBeReportedAgain { applyWatch() }
    }

    /// What is to be watched for now. Where there is nothing to read or reading is paused, a hang-up alone.
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
        // Fails for want of memory alone: what is open and was watched before can be watched.
        require(Loop.shared.streams.change(self, from: watched, to: wanted), "epoll_ctl")
        watched = wanted
        reported = []
    }
}
