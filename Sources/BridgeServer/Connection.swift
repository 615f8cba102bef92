import BridgeJSON
import BridgeMessage
import EventLoop
import Logging
import TaskRuntime

/// One client's connection: bytes in, through splitter and decoder, to the runtime; bytes out from the session.
///
/// Back-pressure: where the client leaves more than its bound of replies unread, nothing more is read from it, and what
/// was read already waits here, until it has read on.
///
/// `@exclusivity(unchecked)`, here on what every call touches: one thread uses it, and no access to it lasts while anything
/// else of it is called, so that the checks, a large part of a call's cost, would find nothing.
@LoopActor
final class Connection {
    private let stream: UnixStream
    private let runtime: TaskRuntime
    private let decoder: MessageDecoder
    /// Held, so that it is there for as long as this is. It lets go of this one when this has closed.
    private let heldServer: BridgeServer
    /// The same for the way of a call: a counted reference costs time with every message.
    private unowned(unsafe) let server: BridgeServer
    /// Who is at the other end, as far as turns are taken.
    let user: ServedUser
    @exclusivity(unchecked) private var splitter: MessageSplitter
    private(set) var session: Session?
    /// The same for the way of a call: not retained, because it is held above.
    @exclusivity(unchecked) private var lentSession: Unmanaged<Session>?

    /// Input that was read and not yet handled: lines, the first of them possibly the rest of a batch.
    @exclusivity(unchecked) private var pendingInput: [UInt8] = []
    @exclusivity(unchecked) private var isPaused = false
    /// Paused not for the reader's sake but for that of the other connections, until the next turn.
    private var isYielding = false
    /// Paused because the daemon hands its connections over, or has not begun to serve those that it was handed.
    private var isHeld = false
    private var hasInputEnded = false
    /// Why the line at hand is discarded: the daemon holds too much for the client's user already. Nil: it is not.
    private var lineRefusal: BridgeError?
    /// Whether it is: asked for each line.
    @exclusivity(unchecked) private var refusesLine = false
    /// The daemon stops: once all input has been handled, the connection closes.
    private var isFinishing = false
    @exclusivity(unchecked) private var closesWhenWritten = false
    @exclusivity(unchecked) private var isClosed = false
    /// When the client last read something, or had nothing to read.
    private(set) var lastMoved = MonotonicInstant.now()

    init(_ stream: UnixStream, user: ServedUser, server: BridgeServer) {
        self.stream = stream
        self.user = user
        heldServer = server
        self.server = server
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
        lentSession = session.map { .passUnretained($0) }
        stream.startReading()
    }

    /// Too many are connected: says why and closes. There is no session, so that nothing else can happen.
    func turnAway(_ error: BridgeError) {
        Self.farewell(error).withUnsafeBytes { _ = stream.write($0) }
        close()
    }

    /// The line that is said to who is turned away.
    static func farewell(_ error: BridgeError) -> [UInt8] {
        let output = OutputBuffer()
        MessageEncoder.callback(id: nil, error: error, to: output)
        return Array(output.bytes)
    }

    /// What is read at the end from one client: more than a Unix socket holds, so that nothing is left in it, and a
    /// bound for one that never stops sending.
    private static let lastReadBytes = 4 << 20

    /// How long one connection's calls may keep the loop in one turn, beyond the one that is being worked on: most of
    /// 64 KiB of calls, which is what one read brings, that are answered at once; few that take their time.
    private static let turnNanoseconds: UInt64 = 1_000_000

    private var turnNanoseconds: UInt64 {
        server.turns.isShared ? FairTurns.shareNanoseconds : Self.turnNanoseconds
    }

    // MARK: In

    /// Handles what came, until the client has too much to read.
    private func handle(_ bytes: UnsafeRawBufferPointer) {
        lentSession?.lend { handle(bytes, from: $0) }
    }

    private func handle(_ bytes: UnsafeRawBufferPointer, from session: Session) {
        runtime.beginInput()
        let turnNanoseconds = turnNanoseconds
        var takenBytes = 0
        while let line = splitter.nextLine(of: bytes, from: &takenBytes) {
            if !handle(line, from: session) { break }
            if runtime.inputNanoseconds > turnNanoseconds, takenBytes < bytes.count {
                yield()
                break
            }
        }
        runtime.endInput()
        if splitter.heldBytes > MessageMemory.largeBytes { server.memory.noteLarge() }
        if takenBytes < bytes.count, !isClosed { pendingInput.append(contentsOf: bytes[takenBytes...]) }
        let heldBytes = splitter.heldBytes + pendingInput.count
        if heldBytes > MessageMemory.largeBytes || session.heldInputBytes > 0 { countInput(heldBytes, of: session) }
    }

    /// Counts input that waits, where it is much. For a line whose end has not come there may be no room any more.
    private func countInput(_ heldBytes: Int, of session: Session) {
        guard !isClosed else { return }
        session.heldInputBytes = heldBytes > MessageMemory.largeBytes ? heldBytes : 0
        runtime.countQueued(session)
        guard splitter.heldBytes > MessageMemory.largeBytes, !splitter.isDiscarding, runtime.isOverQuota(session) else {
            return
        }
        lineRefusal = runtime.lineRefusal(session)
        refusesLine = true
        splitter.discardLine()
        session.heldInputBytes = 0
        runtime.countQueued(session)
    }

    /// The line that was discarded has ended, and is answered.
    private func refuse(_ line: SplitLine, _ error: BridgeError, from session: Session) {
        lineRefusal = nil
        refusesLine = false
        guard let item = decoder.item(of: line) else { return }
        guard case .problem(let problem) = item else { return runtime.receive(item, from: session) }
        var refusal = problem.pointee
        refusal.error = error
        withUnsafePointer(to: refusal) { runtime.receive(.problem($0), from: session) }
    }

    /// Handles a line; false where the rest has to wait.
    @inline(__always)
    private func handle(_ line: SplitLine, from session: Session) -> Bool {
        if refusesLine, let lineRefusal {
            refuse(line, lineRefusal, from: session)
        } else if let item = decoder.item(of: line) {
            runtime.receive(item, from: session)
        } else {
            handleBatch(line, from: session)
        }
        return mayGoOn(session)
    }

    private func handleBatch(_ line: SplitLine, from session: Session) {
        if runtime.receiveRPCBatch(decoder, from: session) { return }
        let outcome = decoder.decodeBatch { item in
            runtime.receive(item, from: session)
            return mayGoOn(session)
        }
        if case .stopped(let offset) = outcome, case .line(let bytes) = line {
            // The rest of the batch becomes a batch of its own, ahead of everything else that waits.
            pendingInput.append(UInt8(ascii: "["))
            pendingInput.append(contentsOf: bytes[offset...])
            pendingInput.append(UInt8(ascii: "\n"))
        }
    }

    @inline(__always)
    private func mayGoOn(_ session: Session) -> Bool {
        guard !isClosed, !closesWhenWritten else { return false }
        if hasTooMuchUnread(session) { pause() }
        return !isPaused
    }

    /// Whether the client has to read before any more is taken from it.
    @inline(__always)
    private func hasTooMuchUnread(_ session: Session) -> Bool {
        let unreadBytes = session.output.count
        return unreadBytes > runtime.limits.unreadBytes
            || unreadBytes > TaskRuntime.uncountedBytes && isUserOverQuota(session)
    }

    private func isUserOverQuota(_ session: Session) -> Bool {
        runtime.countQueued(session)
        return runtime.isOverQuota(session)
    }

    /// Leaves the rest of this turn to the others. What has been read already waits for the next one.
    private func yield() {
        guard !isPaused, !isClosed, !closesWhenWritten else { return }
        isPaused = true
        isYielding = true
        stream.suspendReading()
        server.resumeInNextTurn(self)
    }

    /// The others have had their turn.
    func takeTurn() {
        isYielding = false
        guard isPaused, !isHeld, !isClosed, !closesWhenWritten, let session else { return }
        if hasTooMuchUnread(session) { return server.watchStalled() }
        let hasInput = !pendingInput.isEmpty
        goOn()
        if !hasInput, !isPaused, !isClosed { stream.readNow() }
    }

    private func pause() {
        guard !isPaused else { return }
        isPaused = true
        stream.stopReading()
        server.watchStalled()
    }

    private func resume(_ session: Session) {
        guard !isYielding, !isHeld, session.output.count <= runtime.limits.unreadBytes / 2 else { return }
        goOn()
    }

    private func goOn() {
        isPaused = false
        handlePending()
        guard !isPaused, !isClosed, !closesWhenWritten else { return }
        if hasInputEnded { endInput() } else { stream.startReading() }
        if isFinishing { finish() }
    }

    /// Handles what had been read before the client had too much to read.
    private func handlePending() {
        guard !pendingInput.isEmpty else { return }
        var input = pendingInput
        pendingInput = []
        let count = input.count
        input.append(contentsOf: repeatElement(0, count: MessageSplitter.paddingBytes))
        input.withUnsafeBytes { handle(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    private func endInput() {
        hasInputEnded = true
        guard !isPaused, let session else { return }
        splitter.finishInput { handle($0, from: session) }
        guard !isPaused else { return }
        runtime.endInput(of: session)
    }

    // MARK: Out

    func writeOutput() {
        if !isClosed { lentSession?.lend { writeOutput(of: $0) } }
    }

    private func writeOutput(of session: Session) {
        if session.output.count > MessageMemory.largeBytes { server.memory.noteLarge() }
        var hasMoved = false
        while !session.output.isEmpty {
            let writtenBytes = stream.write(session.output.bytes)
            if writtenBytes > 0 {
                hasMoved = true
                session.sentBytes &+= UInt64(writtenBytes)
                session.output.removeFirst(writtenBytes)
                runtime.refill(session)
            }
            guard session.output.isEmpty else { break }
        }
        if !session.output.isEmpty || session.countedBytes != 0 { runtime.countQueued(session) }
        if hasMoved || session.output.isEmpty { lastMoved = EventLoop.now }
        if closesWhenWritten, session.output.isEmpty { return close() }
        if isPaused { resume(session) }
    }

    /// Whether the client keeps the daemon waiting: it has too much unread, or its connection is to be closed.
    var waitsForReader: Bool { isPaused && !isYielding && !isHeld || closesWhenWritten }

    func peerUnit() -> String? { stream.peerUnit() }

    func closeWhenWritten() {
        guard !isClosed else { return }
        closesWhenWritten = true
        stream.stopReading()
        pendingInput = []
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
        stream.close()
        pendingInput = []
        if let session { runtime.hangUp(session) }
        server.didClose(self)
    }
}

// MARK: From one daemon to the next

extension Connection {
    /// Reads nothing more, unless the session works on others' calls.
    func hold() {
        guard !isClosed, !closesWhenWritten, let session, !runtime.isProviding(session) else { return }
        isHeld = true
        isPaused = true
        stream.stopReading()
    }

    /// Handles what was read, and reads on.
    func endHold() {
        guard isHeld else { return }
        isHeld = false
        guard !isYielding, !isClosed, !closesWhenWritten, let session else { return }
        if hasTooMuchUnread(session) { server.watchStalled() } else { goOn() }
    }

    /// Writes what the socket takes, and tells the rest. Nothing is read or handled from here on.
    ///
    /// - Returns: Nil: the connection has just ended.
    func prepareHandover() -> HeldConnection? {
        guard !isClosed, !closesWhenWritten, let session else { return nil }
        isHeld = true
        isPaused = true
        stream.stopReading()
        let sessionRecord = runtime.record(of: session)
        writeOutput()
        guard !isClosed, let socket = stream.inode else { return nil }
        let line = splitter.unfinished
        return HeldConnection(
            descriptor: stream.descriptor,
            record: ConnectionRecord(
                socket: socket, session: sessionRecord, input: HandoverBytes(pendingInput),
                unfinishedLine: HandoverBytes(line.bytes), discardedBytes: line.discardedBytes,
                output: HandoverBytes(Array(session.output.bytes))))
    }

    /// Somebody else has the connection: nothing of this process touches it any more.
    func finishHandover() {
        isClosed = true
        stream.close()
    }

    /// Takes the place of the connection that was handed over.
    func resume(_ record: ConnectionRecord, _ peer: PeerIdentity) {
        isHeld = true
        isPaused = true
        pendingInput = record.input?.bytes ?? []
        splitter.resume(
            UnfinishedLine(bytes: record.unfinishedLine?.bytes ?? [], discardedBytes: record.discardedBytes))
        stream.delegate = self
        let session = runtime.resume(record.session, peer: peer, transport: self)
        self.session = session
        lentSession = .passUnretained(session)
        guard let output = record.output?.bytes else { return }
        output.withUnsafeBytes { session.output.append($0) }
        runtime.markDirty(session)
    }
}

extension Connection: UnixStreamDelegate {
    func mayRead() -> Bool {
        let turns = server.turns
        stream.mostReadBytes = turns.isShared ? FairTurns.sharedReadBytes : .max
        if turns.mayRead(user) { return true }
        yield()
        return false
    }

    func read(bytes: UnsafeRawBufferPointer) {
        lentSession?.lend { $0.receivedBytes &+= UInt64(bytes.count) }
        guard server.turns.isShared else { return handle(bytes) }
        let start = MonotonicInstant.now().nanoseconds
        handle(bytes)
        server.turns.charge(MonotonicInstant.now().nanoseconds &- start, to: user)
    }

    func endOfInput() { endInput() }

    func hangUp() { close() }

    func writable() { writeOutput() }

    func failed(_ error: SystemError) {
        server.log.info("a connection failed: \(error)", metadata: session?.logMetadata)
        close()
    }
}

extension Connection: @LoopActor SessionTransport {}
