// BridgeServer: the Unix socket. Accepts connections, passes their input to the runtime, and writes the output of their
// sessions once in each turn of the loop.
import BridgeJSON
import BridgeMessage
public import EventLoop
import Glibc
public import Logging
public import TaskRuntime

/// The limits of the server, besides those of the runtime.
public struct ServerLimits: Sendable {
    /// The maximum number of open connections. Each uses a descriptor and about 1 KiB.
    public var sessions = 10_000
    /// How long a client that does not read may have more unread output than its limit, or may keep a closing
    /// connection open.
    public var stalled = Duration.seconds(30)

    /// Creates the protocol's default limits.
    public init() {}
}

/// Listens on Unix sockets and serves the clients that connect.
@LoopActor
public final class BridgeServer {
    let runtime: TaskRuntime
    private(set) var limits: ServerLimits
    let log: Logger
    /// One decoder for all connections: a line is decoded and handled before the next one is read.
    let decoder = MessageDecoder()
    let memory: MemoryTrimmer

    /// Shares the loop between users. Plugin processes take part.
    public let scheduler: FairScheduler
    private var listeners: [UnixListener] = []
    var connections: [ObjectIdentifier: Connection] = [:]
    private var turnEnd: TurnEndHook?
    private var sweepTimer: LoopTimer?
    private var onEmpty: (@LoopActor () -> Void)?

    /// Creates a server that does not listen yet.
    public init(runtime: TaskRuntime, limits: ServerLimits, log: Logger) {
        self.runtime = runtime
        self.limits = limits
        self.log = log
        memory = MemoryTrimmer { runtime.trimMemory() }
        turnEnd = EventLoop.atTurnEnd { runtime.writeOutput() }
        // The scheduler's hook runs after that one: input that was read together is answered together.
        let scheduler = FairScheduler()
        self.scheduler = scheduler
        // Passed, not captured: a captured scheduler would cost an allocation in each turn.
        runtime.turnShare = { LoopActor.assumeIsolated(passing: scheduler) { $0.share } }
        runtime.onSteps = { account in
            LoopActor.assumeIsolated(passing: account) { StepTurns(runtime, $0, scheduler).wait() }
        }
        runtime.makePipe = { uid, events throws(BridgeError) in
            let user = uid ?? getuid()
            return try LoopActor.assumeIsolated(passing: (scheduler, events)) { scheduler, events in
                Result { () throws(BridgeError) in try LoopPipe(scheduler, user, events) as any StreamPipe }
            }.get()
        }
        runtime.loopLag = { LoopActor.assumeIsolated { EventLoop.lag } }
    }

    /// The URL schemes that are calls, in lower case.
    public var urlSchemes: Set<String> {
        get { decoder.urlSchemes }
        set { decoder.urlSchemes = newValue }
    }

    /// Applies new limits, and those that the runtime has got before, also to open connections. If more connections are
    /// open than allowed, they stay open.
    public func apply(_ limits: ServerLimits) {
        self.limits = limits
        // A copy: a connection that resumes may close.
        for connection in Array(connections.values) { connection.limitsChanged() }
        sweepTimer?.schedule(after: limits.stalled / 4)
    }

    // MARK: Listening

    /// Listens on a path.
    ///
    /// - Parameter mode: The socket's permissions, such as 0o600.
    /// - Throws: ``SystemError`` if a daemon already listens there, or the path cannot be used.
    public func listen(path: String, mode: UInt32) throws(SystemError) {
        start(try UnixListener.bind(path: path, mode: mode))
    }

    /// Takes over a listening socket. Clients that connected before are served like all others. Its path and
    /// permissions stay unchanged.
    ///
    /// - Returns: The socket's path.
    /// - Throws: ``SystemError`` if it is not a listening Unix stream socket.
    public func listen(adopting socket: consuming UnixSocket) throws(SystemError) -> String {
        let listener = try UnixListener(adopting: socket)
        start(listener)
        return listener.path
    }

    private func start(_ listener: UnixListener) {
        // From here on clients may wait. Not weak: a weak reference would make every other use of the runtime slower.
        EventLoop.onSlowTurn = { [runtime] in runtime.noteSlowTurn(cpuTime: $0.cpuTime) }
        // Strong until the listener closes, for the same reason.
        listener.onAccept = { [self] socket, peer in accept(socket, peer) }
        listener.share = { [scheduler] in scheduler.share }
        listener.rejection = Connection.rejection(
            BridgeError(
                .busy, "the daemon has no descriptors left for connections", isTransient: true, retryAfter: .seconds(1))
        )
        listener.onTrouble = { [log] error, turnedAway in
            log.error("\(error); connections turned away: \(turnedAway)")
        }
        listener.startAccepting()
        listeners.append(listener)
    }

    /// Whether it listens, and only on sockets that it has created itself.
    public var ownsSocket: Bool { !listeners.isEmpty && !listeners.contains { $0.isAdopted } }

    /// Changes the permissions of its sockets; clients stay connected.
    ///
    /// - Throws: ``SystemError`` if a socket's path no longer refers to it.
    public func setSocketMode(_ mode: UInt32) throws(SystemError) {
        for listener in listeners { try listener.setMode(mode) }
    }

    /// Stops accepting clients. For a socket of its own, the clients in the queue are accepted first, and the socket is
    /// removed. A socket that was handed over stays open without this process: the next process serves its queue.
    public func stopListening() {
        for listener in listeners {
            listener.stopAccepting()
            if !listener.isAdopted { listener.drainBacklog() }
            listener.close()
        }
        listeners = []
    }

    /// Sends an error to every client in the queue of a socket that was handed over, and closes its connection. The
    /// next process accepts the clients that connect later.
    ///
    /// - Throws: ``SystemError``, like ``listen(adopting:)``.
    public func turnAway(waitingAt socket: consuming UnixSocket, _ error: BridgeError) throws(SystemError) {
        let listener = try UnixListener(adopting: socket)
        var waiting: [Connection] = []
        listener.rejection = Connection.rejection(error)
        listener.onAccept = { [self] socket, peer in
            if let connection = connection(over: socket, PeerIdentity(peer)) { waiting.append(connection) }
        }
        // Accept all of them first: a client that gets the error may reconnect immediately, and must reach the next
        // process.
        listener.drainBacklog()
        listener.close()
        for connection in waiting { connection.turnAway(error) }
    }

    private func accept(_ socket: consuming UnixSocket, _ peer: PeerCredentials) {
        let peer = PeerIdentity(peer)
        guard let connection = connection(over: socket, peer) else { return }
        if connections.count > limits.sessions {
            connection.turnAway(runtime.refusal(ofConnectionBeyond: limits.sessions))
        } else if let refusal = runtime.refusal(ofConnectionBy: peer) {
            connection.turnAway(refusal)
        } else {
            connection.open(peer)
        }
    }

    private func connection(over socket: consuming UnixSocket, _ peer: PeerIdentity) -> Connection? {
        do {
            let stream = try UnixStream(adopting: socket)
            let connection = Connection(stream, user: scheduler.add(.uid(peer.uid)), server: self)
            connections[ObjectIdentifier(connection)] = connection
            return connection
        } catch {
            log.error("a connection could not be taken: \(error)")
            return nil
        }
    }

    // MARK: Connections

    func didClose(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = nil
        scheduler.remove(connection.user)
        memory.noteFreed()
        if connections.isEmpty, let onEmpty {
            self.onEmpty = nil
            onEmpty()
        }
    }

    /// Starts the periodic check of connections that wait for their reader. It ends when there are none.
    func watchStalled() {
        guard sweepTimer == nil else { return }
        let timer = LoopTimer { [weak self] in self?.sweep() }
        timer.schedule(after: limits.stalled / 4)
        sweepTimer = timer
    }

    private func sweep() {
        let now = EventLoop.now
        var anyWaits = false
        for connection in connections.values where connection.waitsForReader {
            if now - connection.lastMoved >= limits.stalled {
                connection.endStalled()
            } else {
                anyWaits = true
            }
        }
        if anyWaits {
            sweepTimer?.schedule(after: limits.stalled / 4)
        } else {
            sweepTimer?.close()
            sweepTimer = nil
        }
    }

    // MARK: The end

    /// Reads and answers the input left in the sockets, and closes every connection after its output is written.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for clients that do not read.
    public func close(timeout: Duration) async {
        runtime.finishEvents()
        for connection in connections.values { connection.finish() }
        runtime.writeOutput()
        guard !connections.isEmpty else { return end() }
        let timer = LoopTimer { [weak self] in
            for connection in self.map({ Array($0.connections.values) }) ?? [] { connection.abandon() }
        }
        timer.schedule(after: timeout)
        await withCheckedContinuation { continuation in onEmpty = { continuation.resume() } }
        timer.close()
        end()
    }

    private func end() {
        EventLoop.onSlowTurn = nil
        turnEnd?.remove()
        scheduler.close()
        sweepTimer?.close()
        sweepTimer = nil
        memory.close()
    }
}
