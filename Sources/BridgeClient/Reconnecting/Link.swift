// One connection after the other: makes one, introduces the client, has the session restore what it provides and
// listens to, and does so again when the connection is lost, if the program wants that.
//
//   connecting → open → (lost) → apart → connecting …, and closed in the end
//
// What outlives a connection (calls that wait, registrations, subscriptions) belongs to the session.

import BridgeJSON
import EventLoop

/// The connection that there is at present, and how the next one comes.
@LoopActor
final class Link {
    enum Phase {
        /// Nil: it is being made.
        case connecting(ClientConnection?)
        case open(ClientConnection)
        /// The next attempt is some time away.
        case apart
        case closed
    }

    /// How long the daemon may take to close its end of a connection that this end closes: it has nothing left to do
    /// for us but that.
    private static let closingTimeout = Duration.seconds(1)
    /// How long after a stopping daemon has refused calls they are tried again over a connection that is still there:
    /// one that hands its sessions on to the next daemon keeps them, and says nothing when it goes on.
    private static let holdingTime = Duration.seconds(1)

    let path: String
    let timers: any ClientTimers
    let configuration: Bridge.Configuration
    var limits: Bridge.Limits { configuration.limits }
    /// Whose connections these are; it owns this. Set once, right after the session is made.
    weak var session: ClientSession?

    private(set) var phase = Phase.connecting(nil)
    /// Why there will be no further connection; nil while there may be. Set before the last one has ended where this
    /// end closes it.
    private(set) var end: BridgeError?

    /// From 0 to 1, for the pauses between attempts.
    let random: @LoopActor () -> Double
    private var pauses: BackoffPauses
    private var retry: (any ClientTimer)?
    private var hasBeenOpen = false
    private var openedAt = MonotonicInstant(nanoseconds: 0)
    /// Runs while the daemon begins no calls.
    private var holding: (any ClientTimer)?
    private let ending = AsyncSignal<Void>()

    init(
        path: String, _ configuration: Bridge.Configuration, timers: any ClientTimers,
        random: @escaping @LoopActor () -> Double
    ) {
        self.path = path
        self.configuration = configuration
        self.timers = timers
        self.random = random
        pauses = BackoffPauses(configuration.reconnect?.backoff ?? Backoff())
    }

    /// Over which calls go out now. Nil: they wait, or there is nothing to wait for (`end`).
    var openConnection: ClientConnection? {
        guard case .open(let connection) = phase, holding == nil else { return nil }
        return connection
    }

    /// Whether the daemon knows nothing of this client at present.
    var isApart: Bool { if case .apart = phase { true } else { false } }
    private var isClosed: Bool { if case .closed = phase { true } else { false } }

    // MARK: Connecting

    /// Makes a connection that works.
    /// - Throws: why there is none; nothing is left of it then.
    func connect() async throws(BridgeError) {
        phase = .connecting(nil)
        let connection = try await ClientConnection.connect(path: path, limits: limits, timers: timers)
        guard let session, end == nil else {
            connection.close(.closedHere)
            throw end ?? .closedHere
        }
        connection.session = session
        phase = .connecting(connection)
        do throws(BridgeError) {
            try await session.introduce(over: connection)
            let refused = try await session.restore(over: connection)
            // It may have been lost since the last answer came.
            if let failure = connection.failure { throw failure }
            opened(connection, refused)
        } catch {
            connection.close(error)
            throw connection.isEndedOnPurpose ? connection.failure ?? error : error
        }
    }

    /// Makes the first connection; tries again where the program wants to wait for a daemon.
    /// - Throws: why there is none.
    func connectFirst() async throws(BridgeError) {
        while true {
            do throws(BridgeError) {
                return try await connect()
            } catch {
                guard configuration.waitForDaemon, error.isTransient else { throw error }
            }
            let over = AsyncSignal<Void>()
            let timer = timers.after(pauses.next(chance: random())) { over.resumeAll(()) }
            defer { timer.close() }
            if await over.wait() == nil { throw .cancelledHere("waiting for a daemon", started: false) }
        }
    }

    private func opened(_ connection: ClientConnection, _ refused: [RefusedRegistration]) {
        phase = .open(connection)
        openedAt = timers.now
        let isNew = hasBeenOpen
        hasBeenOpen = true
        session?.opened(connection, isNew: isNew, refused)
    }

    private func connectLater(_ reason: BridgeError) {
        phase = .apart
        let attempts = pauses.attempts
        let pause = pauses.next(chance: random())
        retry = timers.after(pause) { [weak self] in
            guard let self else { return }
            retry = nil
            // Ends with the attempt, which the end of the client ends too.
            Task { await self.connectAgain() }
        }
        session?.states.notify(.waiting(reason: reason, attempts: attempts, retryAfter: pause))
    }

    private func connectAgain() async {
        guard end == nil else { return }
        do throws(BridgeError) {
            try await connect()
        } catch {
            // Where this end was closed meanwhile, that has been seen to.
            guard end == nil else { return }
            if Self.isFinal(error) { finish(error) } else { connectLater(error) }
        }
    }

    /// Whether another attempt would fare no better: the daemon does not take this client for what it says it is, or
    /// has closed its session on purpose.
    private static func isFinal(_ error: BridgeError) -> Bool {
        switch error.code {
        case .optionsInvalid, .permissionDenied: true
        case .sessionClosed: !error.isTransient
        default: false
        }
    }

    // MARK: A daemon that stops

    /// The daemon no longer begins calls. Returns whether they may wait for it to be over.
    func hold() -> Bool {
        guard configuration.reconnect != nil, end == nil, case .open(let connection) = phase else { return false }
        if holding == nil {
            holding = timers.after(Self.holdingTime) { [weak self] in
                self?.holding = nil
                self?.session?.calls.sendWaiting(over: connection)
            }
        }
        return true
    }

    // MARK: The end

    /// A connection has ended. One that was never open is handled by the caller that waits for it to open.
    func lost(_ connection: ClientConnection, _ reason: BridgeError) {
        guard case .open(let current) = phase, current === connection else { return }
        holding?.close()
        holding = nil
        if end != nil || configuration.reconnect == nil || connection.isEndedOnPurpose { return finish(end ?? reason) }
        pauses.wasConnected(for: timers.now - openedAt)
        connectLater(reason)
    }

    /// Ends everything; what has been sent is still delivered. Returns when it has ended.
    func close() async {
        if end == nil {
            end = .closedHere
            switch phase {
            case .open(let connection): await connection.finish(timeout: Self.closingTimeout)
            case .connecting(let connection):
                finish(.closedHere)
                connection?.close(.closedHere)
            case .apart: finish(.closedHere)
            case .closed: break
            }
        }
        _ = await ended()
    }

    private func finish(_ reason: BridgeError) {
        if case .closed = phase { return }
        phase = .closed
        end = reason
        retry?.close()
        retry = nil
        session?.ended(reason)
        ending.resumeAll(())
    }

    /// Waits for the end: the reason; where the Swift task is cancelled first, that.
    func ended() async -> BridgeError {
        while !isClosed {
            guard await ending.wait() != nil else { return .cancelledHere("waiting for the end", started: false) }
        }
        return end ?? .closedHere
    }
}
