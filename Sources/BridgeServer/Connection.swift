import BridgeJSON
import BridgeMessage
import EventLoop
import Logging
import TaskRuntime

/// One client's connection: bytes in, through splitter and decoder, to the runtime (ConnectionInput.swift); bytes out
/// from the session; and on to the next daemon (ConnectionHandover.swift). What is not private here is so for these
/// two.
///
/// Back-pressure: where the client leaves more than its bound of replies unread, nothing more is read from it, and what
/// was read already waits here, until it has read on.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
@LoopActor
final class Connection {
    let stream: UnixStream
    let runtime: TaskRuntime
    let decoder: MessageDecoder
    /// Held, so that it is there for as long as this is. It lets go of this one when this has closed.
    private let heldServer: BridgeServer
    /// The same for the way of a call: a counted reference costs time with every message.
    unowned(unsafe) let server: BridgeServer
    let scheduler: FairScheduler
    /// Who is at the other end, as far as turns are taken.
    let user: FairUser
    @exclusivity(unchecked) var splitter: MessageSplitter
    var session: Session?
    /// The same for the way of a call: not retained, because it is held above.
    @exclusivity(unchecked) var unownedSession: Unmanaged<Session>?

    /// Input that was read and not yet handled: lines.
    @exclusivity(unchecked) var pendingInput = HeldInput()
    /// The line that is being handled over several turns, before all other input.
    @exclusivity(unchecked) var lineAtWork: LineAtWork?
    @exclusivity(unchecked) var isPaused = false
    /// Paused not for the reader's sake but for that of the other connections, until the next turn.
    var isYielding = false
    /// Yielding until ``inputMayContinue()``: the session waits for what is done in the lane.
    var isParked = false
    /// Paused because the daemon hands its connections over, or has not begun to serve those that it was handed.
    var isHeld = false
    var hasInputEnded = false
    /// Why the line at hand is discarded: the daemon holds too much for the client's user already. Nil: it is not.
    var lineRefusal: BridgeError?
    /// Whether it is: asked for each line.
    @exclusivity(unchecked) var refusesLine = false
    /// The daemon stops: once all input has been handled, the connection closes.
    var isFinishing = false
    @exclusivity(unchecked) var closesWhenWritten = false
    /// How many descriptors were sent that the client may not have received yet.
    private var sentDescriptors = 0
    @exclusivity(unchecked) var isClosed = false
    /// When the client last read something, or had nothing to read.
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

    /// The runtime goes by other bounds: so does this, and who read too slowly may do so no longer.
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

    /// Too many are connected: says why and closes. There is no session, so that nothing else can happen.
    func turnAway(_ error: BridgeError) {
        Self.rejection(error).withUnsafeBytes { _ = stream.write($0) }
        close()
    }

    /// The line that is said to who is turned away.
    static func rejection(_ error: BridgeError) -> [UInt8] {
        let output = OutputBuffer()
        MessageEncoder.callback(id: nil, error: error, to: output)
        return Array(output.bytes)
    }

    // MARK: Out

    func writeOutput() {
        if !isClosed { unownedSession?.withUnowned { writeOutput(of: $0) } }
    }

    private func writeOutput(of session: Session) {
        if session.output.count > MemoryTrimmer.largeBytes { server.memory.noteFreed() }
        var hasMoved = false
        // Events may wait though nothing is unread: those that were dropped are reported.
        if session.output.isEmpty { runtime.refill(session) }
        var roomBytes = Int.max
        while !session.output.isEmpty {
            var (bytes, passed) = session.output.passedCount == 0 ? (session.output.bytes, nil) : session.output.front
            // Short output, the rule, is written without a look at the others.
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
                // The rest of this turn is the others'.
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

    /// Whether the client keeps the daemon waiting: it has too much unread, or its connection is to be closed.
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

    /// What is read at the end from one client: more than a Unix socket holds, so that nothing is left in it, and a
    /// bound for one that never stops sending.
    private static let lastReadBytes = 4 << 20

    /// Takes what the socket holds, then closes once everything is written. A client that is behind with its reading
    /// has input waiting here: that comes first, as it reads on.
    func finish() {
        guard !closesWhenWritten, !isClosed else { return }
        endHold()
        isFinishing = true
        if !isPaused { stream.readAvailable(limitBytes: Self.lastReadBytes) }
        if !isPaused { closeWhenWritten() }
    }

    /// Closes now; what is not written is lost.
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

    /// Counts what the body takes against the user's share, where there are several users.
    @inline(__always)
    private func charged(_ body: () -> Void) {
        guard scheduler.isShared else { return body() }
        let start = MonotonicInstant.now().nanoseconds
        body()
        scheduler.charge(MonotonicInstant.now().nanoseconds &- start, to: user)
    }

    /// At the end of the turn, within the user's share.
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
