// Makes one connection after the other: connects, introduces the client, lets the session restore its tasks and
// subscriptions. Reconnects when the connection is lost, if the program is configured so.
//
//   connecting → open → (lost) → apart → connecting …, finally closed
//
// State that outlives a connection (waiting calls, registrations, subscriptions) belongs to the session.

import BridgeJSON
import EventLoop

/// The current connection, and the making of the next one.
@LoopActor
final class Link {
    enum Phase {
        /// The associated value is `nil` while the socket connects.
        case connecting(ClientConnection?)
        case open(ClientConnection)
        /// A pause before the next attempt.
        case apart
        case closed
    }

    /// How long the daemon may take to close its end of a connection that this client closes: it has no other work for
    /// this client.
    private static let closingTimeout = Duration.seconds(1)
    /// How long calls wait after a stopping daemon has refused one, before they are sent again over the same
    /// connection. A daemon that hands its sessions over to the next daemon keeps them connected, and sends nothing
    /// when the next one continues.
    private static let holdingTime = Duration.seconds(1)

    let path: String
    let timers: any ClientTimers
    let configuration: Bridge.Configuration
    var limits: Bridge.Limits { configuration.limits }
    /// The session that owns this link. Set once, right after the session is made.
    weak var session: ClientSession?

    private(set) var phase = Phase.connecting(nil)
    /// The reason why there will be no further connection; `nil` while there may be one. If this client closes the
    /// link, it is set before the last connection has ended.
    private(set) var end: BridgeError?

    /// Returns a number from 0 to 1, for the pauses between attempts.
    let random: @LoopActor () -> Double
    private var pauses: BackoffPauses
    private var retry: (any ClientTimer)?
    private var hasBeenOpen = false
    private var openedAt = MonotonicInstant(nanoseconds: 0)
    /// The timer that runs while the daemon begins no calls.
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

    /// The connection over which calls are sent now. `nil` if they wait, or if no connection will follow (`end`).
    var openConnection: ClientConnection? {
        guard case .open(let connection) = phase, holding == nil else { return nil }
        return connection
    }

    /// Whether no daemon has state of this client at present.
    var isApart: Bool { if case .apart = phase { true } else { false } }
    private var isClosed: Bool { if case .closed = phase { true } else { false } }

    // MARK: Connecting

    /// Makes a connection, introduces the client and restores its tasks and subscriptions.
    /// - Throws: The reason of the failure; the connection is closed then.
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
            // It may have been lost since the last answer arrived.
            if let failure = connection.failure { throw failure }
            opened(connection, refused)
        } catch {
            connection.close(error)
            throw connection.isEndedOnPurpose ? connection.failure ?? error : error
        }
    }

    /// Makes the first connection; retries if the program is configured to wait for a daemon.
    /// - Throws: The reason why there is no connection.
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
            // The Swift task ends with the attempt, which ends at the latest when the client closes.
            Task { await self.connectAgain() }
        }
        session?.states.notify(.waiting(reason: reason, attempts: attempts, retryAfter: pause))
    }

    private func connectAgain() async {
        guard end == nil else { return }
        do throws(BridgeError) {
            try await connect()
        } catch {
            // If this client closed the link meanwhile, close() has done everything.
            guard end == nil else { return }
            if Self.isFinal(error) { finish(error) } else { connectLater(error) }
        }
    }

    /// Whether another attempt would fail in the same way: the daemon refuses the client's description of itself, or
    /// has closed its session on purpose.
    private static func isFinal(_ error: BridgeError) -> Bool {
        switch error.code {
        case .optionsInvalid, .permissionDenied: true
        case .sessionClosed: !error.isTransient
        default: false
        }
    }

    // MARK: A daemon that stops

    /// Holds calls back because the daemon no longer begins any. Returns whether they may wait until it does.
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

    /// Handles the end of a connection. If it was never open, the caller of ``connect()`` handles it.
    func lost(_ connection: ClientConnection, _ reason: BridgeError) {
        guard case .open(let current) = phase, current === connection else { return }
        holding?.close()
        holding = nil
        if end != nil || configuration.reconnect == nil || connection.isEndedOnPurpose { return finish(end ?? reason) }
        pauses.wasConnected(for: timers.now - openedAt)
        connectLater(reason)
    }

    /// Ends everything; sent messages are still delivered. Returns when the link has ended.
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

    /// Waits for the end and returns its reason; returns `call.cancelled` if the Swift task is cancelled first.
    func ended() async -> BridgeError {
        while !isClosed {
            guard await ending.wait() != nil else { return .cancelledHere("waiting for the end", started: false) }
        }
        return end ?? .closedHere
    }
}
