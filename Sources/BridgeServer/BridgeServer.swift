// BridgeServer: the Unix socket. Accepts connections, feeds what they send to the runtime, and writes what the runtime
// leaves in their sessions' output: once for each turn of the loop.
import BridgeJSON
import BridgeMessage
public import EventLoop
import Glibc
public import Logging
public import TaskRuntime

/// Bounds of the server, beside those of the runtime.
public struct ServerLimits: Sendable {
    /// Connections at a time. Each costs a descriptor and about 1 KiB.
    public var sessions = 10_000
    /// How long a client that does not read may keep more unread replies than its bound, or a closing connection open.
    public var stalled = Duration.seconds(30)

    /// The bounds of the protocol.
    public init() {}
}

/// Listens at Unix sockets and serves those who connect.
@LoopActor
public final class BridgeServer {
    let runtime: TaskRuntime
    private(set) var limits: ServerLimits
    let log: Logger
    /// One decoder for all: a line is decoded and handled before the next one is looked at.
    let decoder = MessageDecoder()
    let memory: MemoryTrimmer

    /// Shares the loop between users. Plugins' processes take part.
    public let scheduler: FairScheduler
    private var listeners: [UnixListener] = []
    var connections: [ObjectIdentifier: Connection] = [:]
    private var turnEnd: TurnEndHook?
    private var sweepTimer: LoopTimer?
    private var onEmpty: (@LoopActor () -> Void)?

    /// A server that does not listen yet.
    public init(runtime: TaskRuntime, limits: ServerLimits, log: Logger) {
        self.runtime = runtime
        self.limits = limits
        self.log = log
        memory = MemoryTrimmer { runtime.trimMemory() }
        turnEnd = EventLoop.atTurnEnd { runtime.writeOutput() }
        // Its hook comes behind that one: what was read together is answered together.
        let scheduler = FairScheduler()
        self.scheduler = scheduler
        // Passed, not captured: a captured one would be an allocation for each turn.
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

    /// The schemes of URLs that are calls, in small letters.
    public var urlSchemes: Set<String> {
        get { decoder.urlSchemes }
        set { decoder.urlSchemes = newValue }
    }

    /// Goes by other bounds from now on, also by those that the runtime has been given before, and for living
    /// connections too. Where there are more than there may be, they stay.
    public func apply(_ limits: ServerLimits) {
        self.limits = limits
        // A copy: a connection that goes on may end.
        for connection in Array(connections.values) { connection.limitsChanged() }
        sweepTimer?.schedule(after: limits.stalled / 4)
    }

    // MARK: Listening

    /// Listens at a path.
    ///
    /// - Parameter mode: the socket's permissions, such as 0o600.
    /// - Throws: ``SystemError`` where a daemon listens there already, or where the path cannot be used.
    public func listen(path: String, mode: UInt32) throws(SystemError) {
        start(try UnixListener.bind(path: path, mode: mode))
    }

    /// Takes over a socket that listens already; who has connected before is served like all others. Its path and
    /// permissions are left as they are.
    ///
    /// - Returns: where it listens.
    /// - Throws: ``SystemError`` where it is not a Unix stream socket that listens.
    public func listen(adopting socket: consuming UnixSocket) throws(SystemError) -> String {
        let listener = try UnixListener(adopting: socket)
        start(listener)
        return listener.path
    }

    private func start(_ listener: UnixListener) {
        // From here on a client may wait. Not weak: a weak reference would make every other use of the runtime slower.
        EventLoop.onSlowTurn = { [runtime] in runtime.noteSlowTurn(cpuTime: $0.cpuTime) }
        // Strong, until the listener closes, for the same reason.
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

    /// Whether it listens at sockets that it has made itself.
    public var ownsSocket: Bool { !listeners.isEmpty && !listeners.contains { $0.isAdopted } }

    /// Gives its own sockets other permissions; who is connected stays so.
    ///
    /// - Throws: ``SystemError`` where a socket's path is no longer its own.
    public func setSocketMode(_ mode: UInt32) throws(SystemError) {
        for listener in listeners { try listener.setMode(mode) }
    }

    /// Stops accepting clients. Those that wait in the queue of a socket of its own are accepted before, and the socket
    /// is removed. One that was handed over goes on listening without this process: its queue is left to the next one.
    public func stopListening() {
        for listener in listeners {
            listener.stopAccepting()
            if !listener.isAdopted { listener.drainBacklog() }
            listener.close()
        }
        listeners = []
    }

    /// Sends an error to every client that waits in the queue of a socket that was handed over, and closes it. The
    /// next process accepts those who connect later.
    ///
    /// - Throws: ``SystemError``, as ``listen(adopting:)``.
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
            connection.turnAway(tooManySessions)
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

    private var tooManySessions: BridgeError {
        BridgeError(
            .busy, "\(limits.sessions) sessions are connected, as many as may be",
            data: ["quota": "connections", "limit": .number(JSONNumber(limits.sessions)), "of": "all users"],
            isTransient: true, retryAfter: .seconds(1))
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

    /// Looks again, soon, whether connections that wait for their reader move: only while there are such.
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

    /// Reads what the sockets still hold, answers it, and closes every connection once its output is written.
    ///
    /// - Parameters:
    ///   - timeout: how long those who do not read are waited for.
    public func close(timeout: Duration) async {
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
