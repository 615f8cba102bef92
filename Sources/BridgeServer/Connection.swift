import BridgeJSON
import BridgeMessage
import EventLoop
import Logging
import TaskRuntime

/// One client's connection. Input bytes pass through splitter and decoder to the runtime (ConnectionInput.swift,
/// ConnectionLine.swift). Output bytes come from the session. The connection can be handed over to the next daemon
/// (ConnectionHandover.swift). Members that are not private are used by these three files.
///
/// Back-pressure: if the client has more unread output than its limit, no more input is read from it. Input that was
/// already read waits here until the client has read.
///
/// `@exclusivity(unchecked)`: docs/architecture.md gives the reason.
@LoopActor
final class Connection {
    let stream: UnixStream
    let runtime: TaskRuntime
    let decoder: MessageDecoder
    /// Retained, so that the server exists as long as this connection. The server releases this connection when it has
    /// closed.
    private let heldServer: BridgeServer
    /// The same server, for the path of a call: a counted reference would cost time with every message.
    unowned(unsafe) let server: BridgeServer
    let scheduler: FairScheduler
    /// The user of the connection, for the scheduling of turns.
    let user: FairUser
    @exclusivity(unchecked) var splitter: MessageSplitter
    var session: Session?
    /// The same session, for the path of a call: not retained, because `session` retains it.
    @exclusivity(unchecked) var unownedSession: Unmanaged<Session>?

    /// The lines that were read and not yet handled.
    @exclusivity(unchecked) var pendingInput = HeldInput()
    /// The line that is handled over several turns, before all other input.
    @exclusivity(unchecked) var lineAtWork: LineAtWork?
    @exclusivity(unchecked) var isPaused = false
    /// Whether input is paused until the next turn, for the sake of other connections and not of the reader.
    var isYielding = false
    /// Whether it yields until ``inputMayContinue()``: the session waits for work in the lane.
    var isParked = false
    /// Whether input is paused because the daemon hands its connections over, or does not yet serve those that it has
    /// received.
    var isHeld = false
    var hasInputEnded = false
    /// The reason why the current line is discarded: the daemon already holds too much for the client's user. `nil` if
    /// it is not discarded.
    var lineRefusal: BridgeError?
    /// Whether `lineRefusal` is set: checked for each line.
    @exclusivity(unchecked) var refusesLine = false
    /// Whether the daemon is stopping: after all input has been handled, the connection closes.
    var isFinishing = false
    @exclusivity(unchecked) var closesWhenWritten = false
    /// The number of sent descriptors that the client may not have received yet.
    private var sentDescriptors = 0
    @exclusivity(unchecked) var isClosed = false
    /// The moment when the client last read something, or had nothing to read.
    private(set) var lastMoved = MonotonicInstant.now()

    init(_ stream: UnixStream, user: FairUser, server: BridgeServer) {
        self.stream = stream
        self.user = user
        heldServer = server
        self.server = server
        scheduler = server.scheduler
        runtime = server.runtime
        decoder = server.decoder
        splitter = MessageSplitter(maximumLineBytes: runtime.limits.messageBytes)
    }

    /// Applies the runtime's new limits. A client that read too slowly may then have its input resumed.
    func limitsChanged() {
        splitter.maximumLineBytes = runtime.limits.messageBytes
        if isPaused, !isClosed, !closesWhenWritten, let session { resume(session) }
    }

    func open(_ peer: PeerIdentity) {
        stream.delegate = self
        session = runtime.open(peer, transport: self)
        unownedSession = session.map { .passUnretained($0) }
        stream.startReading()
    }

    /// Sends the reason and closes the connection. There is no session, so nothing else can happen.
    func turnAway(_ error: BridgeError) {
        Self.rejection(error).withUnsafeBytes { _ = stream.write($0) }
        close()
    }

    /// Returns the line that is sent to a client that is turned away.
    static func rejection(_ error: BridgeError) -> [UInt8] {
        let output = OutputBuffer()
        MessageEncoder.callback(id: nil, error: error, to: output)
        return Array(output.bytes)
    }

    // MARK: Output

    func writeOutput() {
        if !isClosed { unownedSession?.withUnowned { writeOutput(of: $0) } }
    }

    private func writeOutput(of session: Session) {
        if session.output.count > MemoryTrimmer.largeBytes { server.memory.noteFreed() }
        var hasMoved = false
        // Events may wait although all output was read: dropped events are reported.
        if session.output.isEmpty { runtime.refill(session) }
        var roomBytes = Int.max
        while !session.output.isEmpty {
            var (bytes, passed) = session.output.passedCount == 0 ? (session.output.bytes, nil) : session.output.front
            // Short output, the usual case, is written without regard to other connections.
            if bytes.count > Session.uncountedBytes || roomBytes != .max {
                roomBytes = min(roomBytes, scheduler.writeBytes)
                bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(roomBytes))
            }
            let offeredBytes = bytes.count
            let writtenBytes = write(bytes, passed)
            if writtenBytes > 0 {
                hasMoved = true
                if roomBytes != .max { roomBytes -= writtenBytes }
                session.noteSent(writtenBytes)
                session.output.removeFirst(writtenBytes)
                runtime.refill(session)
            }
            guard writtenBytes == offeredBytes else { break }
            if roomBytes == 0, !session.output.isEmpty {
                // The rest of this turn belongs to other connections.
                stream.awaitRoom()
                break
            }
        }
        if !session.output.isEmpty || session.isCounted { runtime.countQueued(session) }
        if hasMoved || session.output.isEmpty { lastMoved = EventLoop.now }
        if closesWhenWritten, session.output.isEmpty { return close() }
        if isPaused { resume(session) }
    }

    @inline(__always)
    private func write(_ bytes: UnsafeRawBufferPointer, _ passed: PassedDescriptor?) -> Int {
        guard let passed else { return stream.write(bytes) }
        let writtenBytes = stream.write(bytes, with: passed.descriptor)
        if writtenBytes > 0 { sentDescriptors += 1 }
        return writtenBytes
    }

    func unreadDescriptors() -> Int? {
        if sentDescriptors > 0, stream.isReceived { sentDescriptors = 0 }
        return sentDescriptors + (session?.output.passedCount ?? 0)
    }

    /// Whether the daemon waits for the client to read: it has too much unread output, or its connection will be
    /// closed.
    var waitsForReader: Bool { isPaused && !isYielding && !isHeld || closesWhenWritten }

    func peerUnit() -> String? { stream.peerUnit() }

    func closeWhenWritten() {
        guard !isClosed else { return }
        closesWhenWritten = true
        stream.stopReading()
        pendingInput = HeldInput()
        lineAtWork = nil
        server.watchStalled()
        if let session { runtime.markDirty(session) }
    }

    func endStalled() {
        guard let session else { return }
        server.log.warning(
            """
            session \(session.number) was closed: it left \(session.queuedBytes) bytes unread and has not read any for \
            \(server.limits.stalled)
            """, metadata: session.logMetadata)
        abandon()
    }

    // MARK: The end

    /// The maximum that is read at the end from one client: more than a Unix socket holds, so that nothing is left in
    /// it, and a limit for a client that never stops sending.
    private static let lastReadBytes = 4 << 20

    /// Reads the input left in the socket, and closes after all output is written. If a client has too much unread
    /// output, its input waits here and is handled first, as it reads.
    func finish() {
        guard !closesWhenWritten, !isClosed else { return }
        endHold()
        isFinishing = true
        if !isPaused { stream.readAvailable(limitBytes: Self.lastReadBytes) }
        if !isPaused { closeWhenWritten() }
    }

    /// Closes now; unwritten output is lost.
    func abandon() {
        let session = session
        close()
        if let session { runtime.hangUp(session) }
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        isParked = false
        stream.close()
        pendingInput = HeldInput()
        lineAtWork = nil
        if let session { runtime.hangUp(session) }
        server.didClose(self)
    }
}

extension Connection: UnixStreamDelegate {
    func mayRead() -> Bool {
        let mayRead = scheduler.mayRead(user)
        stream.maximumReadBytes = scheduler.readBytes
        if mayRead { return true }
        yield()
        return false
    }

    func read(bytes: UnsafeRawBufferPointer) {
        unownedSession?.withUnowned { $0.noteReceived(bytes.count) }
        charged { handle(bytes) }
    }

    func endOfInput() { charged { endInput() } }

    func hangUp() { charged { close() } }

    /// Counts the time of `body` against the user's share, if there are several users.
    @inline(__always)
    private func charged(_ body: () -> Void) {
        guard scheduler.isShared else { return body() }
        let start = MonotonicInstant.now().nanoseconds
        body()
        scheduler.charge(MonotonicInstant.now().nanoseconds &- start, to: user)
    }

    /// Schedules the writing of the session's output at the end of the turn, within the user's share.
    func writable() {
        if let session { runtime.markDirty(session) }
    }

    func failed(_ error: SystemError) {
        server.log.info("a connection failed: \(error)", metadata: session?.logMetadata)
        close()
    }
}

extension Connection: @LoopActor SessionTransport {}

extension Connection: FairScheduler.Work {}
