import BridgeJSON
import BridgeMessage
import EventLoop
import Logging
import TaskRuntime

/// One client's connection: bytes in, through splitter and decoder, to the runtime; bytes out from the session.
///
/// Back-pressure: where the client leaves more than its bound of replies unread, nothing more is read from it, and what
/// was read already waits here, until it has read on.
@LoopActor
final class Connection {
    private let stream: UnixStream
    private unowned let server: BridgeServer
    private var splitter: MessageSplitter
    private(set) var session: Session?

    /// Input that was read and not yet handled: lines, the first of them possibly the rest of a batch.
    private var pendingInput: [UInt8] = []
    private var isPaused = false
    private var hasInputEnded = false
    /// The daemon stops: once all input has been handled, the connection closes.
    private var isFinishing = false
    private var closesWhenWritten = false
    private var isClosed = false
    /// When the client last read something, or had nothing to read.
    private(set) var lastMoved = MonotonicInstant.now()

    init(_ stream: UnixStream, server: BridgeServer) {
        self.stream = stream
        self.server = server
        splitter = MessageSplitter(maximumLineBytes: server.runtime.limits.messageBytes)
    }

    func open(_ peer: PeerIdentity) {
        stream.delegate = self
        session = server.runtime.open(peer, transport: self)
        stream.startReading()
    }

    /// Too many are connected: says so and closes. There is no session, so that nothing else can happen.
    func turnAway(limit: Int) {
        let output = OutputBuffer()
        MessageEncoder.callback(
            id: nil,
            error: BridgeError(
                .busy, "\(limit) sessions are connected, as many as may be", isTransient: true,
                retryAfter: .seconds(1)),
            to: output)
        _ = stream.write(output.bytes)
        close()
    }

    /// What is read at the end from one client: more than a Unix socket holds, so that nothing is left in it, and a
    /// bound for one that never stops sending.
    private static let lastReadBytes = 4 << 20

    // MARK: In

    /// Handles what came, until the client has too much to read.
    private func handle(_ bytes: UnsafeRawBufferPointer) {
        let takenBytes = splitter.consume(bytes) { handle($0) }
        if takenBytes < bytes.count, !isClosed { pendingInput.append(contentsOf: bytes[takenBytes...]) }
    }

    /// Handles a line; false where the rest has to wait.
    private func handle(_ line: SplitLine) -> Bool {
        guard let session else { return false }
        let runtime = server.runtime
        let outcome = server.decoder.decode(line) { item in
            runtime.receive(item, from: session)
            return mayGoOn(session)
        }
        if case .stopped(let offset) = outcome, case .line(let bytes) = line {
            // The rest of the batch becomes a batch of its own, ahead of everything else that waits.
            pendingInput.append(UInt8(ascii: "["))
            pendingInput.append(contentsOf: bytes[offset...])
            pendingInput.append(UInt8(ascii: "\n"))
        }
        return mayGoOn(session)
    }

    private func mayGoOn(_ session: Session) -> Bool {
        guard !isClosed, !closesWhenWritten else { return false }
        if session.output.count > server.runtime.limits.unreadBytes { pause() }
        return !isPaused
    }

    private func pause() {
        guard !isPaused else { return }
        isPaused = true
        stream.stopReading()
        server.watchStalled()
    }

    private func resume() {
        guard isPaused, let session, session.output.count <= server.runtime.limits.unreadBytes / 2 else { return }
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
        splitter.finishInput { handle($0) }
        guard !isPaused else { return }
        server.runtime.endInput(of: session)
    }

    // MARK: Out

    func writeOutput() {
        guard !isClosed, let session else { return }
        while !session.output.isEmpty {
            let writtenBytes = stream.write(session.output.bytes)
            if writtenBytes > 0 {
                session.output.removeFirst(writtenBytes)
                lastMoved = EventLoop.now
                server.runtime.refill(session)
            }
            guard session.output.isEmpty else { break }
        }
        if session.output.isEmpty {
            lastMoved = EventLoop.now
            if closesWhenWritten { return close() }
        }
        resume()
    }

    /// Whether the client keeps the daemon waiting: it has too much unread, or its connection is to be closed.
    var waitsForReader: Bool { isPaused || closesWhenWritten }

    func closeWhenWritten() {
        guard !isClosed else { return }
        closesWhenWritten = true
        stream.stopReading()
        pendingInput = []
        server.watchStalled()
        if let session { server.runtime.markDirty(session) }
    }

    func endStalled() {
        guard let session else { return }
        server.log.warning(
            """
            session \(session.number) was closed: it left \(session.queuedBytes) bytes unread and has not read any for \
            \(server.limits.stalled)
            """)
        abandon()
    }

    // MARK: The end

    /// Takes what the socket holds, then closes once everything is written. A client that is behind with its reading
    /// has input waiting here: that comes first, as it reads on.
    func finish() {
        guard !closesWhenWritten, !isClosed else { return }
        isFinishing = true
        if !isPaused { stream.readAvailable(limitBytes: Self.lastReadBytes) }
        if !isPaused { closeWhenWritten() }
    }

    /// Closes now; what is not written is lost.
    func abandon() {
        let session = session
        close()
        if let session { server.runtime.hangUp(session) }
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        stream.close()
        pendingInput = []
        if let session { server.runtime.hangUp(session) }
        server.didClose(self)
    }
}

extension Connection: UnixStreamDelegate {
    func read(bytes: UnsafeRawBufferPointer) { handle(bytes) }

    func endOfInput() { endInput() }

    func hangUp() { close() }

    func writable() { writeOutput() }

    func failed(_ error: SystemError) {
        server.log.info("session \(session?.number ?? 0) failed: \(error)")
        close()
    }
}

extension Connection: @LoopActor SessionTransport {}
