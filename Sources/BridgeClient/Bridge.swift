// BridgeClient: the bridge from the other end, for Swift programs: call tasks, provide tasks, listen to events.
//
//   Connection/  one socket: lines in, bounded output, the loop thread; and what outlives it
//   Reconnecting/  one connection after the other: pauses, states
//   Calls/       calls that this end makes
//   Providing/   tasks that this end provides
//   Streams/     bytes of any size
//   Events/      what this end listens to
//
// What a program holds (Bridge, CallProgress, EventStream, Registration, IncomingCall) may be used from any thread;
// everything behind it lives on the loop thread. Tables of calls, tasks and subscriptions belong to the session, not to
// the socket.

// The ends of streams stand in the signatures of this module; see TaskKit.swift.
@_exported import ByteStreams
import BridgeJSON
import EventLoop
import Synchronization

/// A connection to the daemon.
///
/// It lasts until `close()`, or until the bridge and all that came from it are no longer held. `withBridge` closes it
/// at the end of a closure.
///
/// When the connection is lost, every call that has been made ends with `session.closed`. `started` of the error is
/// false where nothing of the call had left this process, and true where the call may have had its effect. The bridge
/// then connects again, after pauses that grow, unless `Configuration.reconnect` is nil. What it provides and listens
/// to is restored before anything else is sent; handlers and streams of events stay. Calls that are made meanwhile
/// wait, within their timeouts, and so do those that a stopping daemon has refused without beginning them. What is
/// published meanwhile is missed: each stream of events then gets one `bridge.events_dropped` whose `count` is null. A
/// new connection is a new session: a login, and watches of tables, are to be made again when `states` reports a new
/// one. A session that `closeWeb` ends is not made again.
public final class Bridge: Sendable {
    let session: ClientSession

    private init(_ session: ClientSession) {
        self.session = session
    }

    deinit {
        Task { [session] in await session.close() }
    }

    /// Connects to the daemon's socket and introduces this program.
    ///
    /// - Parameters:
    ///   - socket: The socket's path, at most 107 bytes. Nil: the one that the environment's `TRESTLE_SOCKET` names,
    ///     else the user's own where there is one, else the machine's.
    ///   - configuration: What the program says of itself, and whether it connects again. This first connection is
    ///     waited for only where `waitForDaemon` says so.
    /// - Throws: `daemon.unreachable` where no one listens there, or no answer comes within ten seconds;
    ///   `connection.denied` where this user may not open the socket; what the daemon says where it does not take the
    ///   program for what it says it is; `call.cancelled` where the Swift task is cancelled while it waits for a
    ///   daemon.
    @LoopActor
    public static func connect(
        socket: String? = nil, configuration: Configuration = .init()
    ) async throws(BridgeError) -> Bridge {
        try await connect(
            to: socket ?? SocketLocation.current().path, configuration, timers: LoopTimers(),
            random: { Double.random(in: 0...1) })
    }

    /// As the public one; with a clock and with chances that tests move.
    @LoopActor
    static func connect(
        to path: String, _ configuration: Configuration, timers: any ClientTimers,
        random: @escaping @LoopActor () -> Double
    ) async throws(BridgeError) -> Bridge {
        let link = Link(path: path, configuration, timers: timers, random: random)
        let session = ClientSession(link)
        try await link.connectFirst()
        return Bridge(session)
    }

    // MARK: The connection

    /// What the daemon of the present session, or of the last one, said of itself. Nil where it does not let this
    /// program ask.
    public var daemon: DaemonInfo? { session.daemon.withLock { $0 } }

    /// Whether there is a connection: how it is now, and then each change, until the bridge has ended. Any number of
    /// readers, each with a sequence of its own. The sequence does not keep the bridge alive.
    public var states: some AsyncSequence<ConnectionState, Never> & Sendable { stateStream }

    var stateStream: AsyncStream<ConnectionState> {
        let (states, reader) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(StateReaders.capacity))
        EventLoop.post { [session] in session.states.add(reader) }
        return states
    }

    // MARK: The end

    /// Waits until the bridge has ended: returns where it was closed here. Where the Swift task is cancelled, it closes
    /// the bridge and returns. For groups of services; nothing depends on it, since the bridge works from `connect` on.
    ///
    /// - Throws: Why there will be no other connection.
    public func run() async throws(BridgeError) {
        let reason = await session.link.ended()
        if Task.isCancelled {
            // What was sent is to reach the daemon, though this Swift task is cancelled.
            return await Task { [session] in await session.close() }.value
        }
        if reason != .closedHere { throw reason }
    }

    /// Ends the bridge: calls in flight are cancelled, and end with `session.closed` as those do that wait for a
    /// connection; what has been sent is still delivered. Returns when the daemon has closed its end too, after a
    /// second at the latest; immediately where there is no connection.
    public func close() async {
        await session.close()
    }

    /// Ends the bridge after the calls of its tasks: those that have come are answered, and the daemon has taken the
    /// answers when this returns; further ones get `provider.closed`. Then as `close()`, also where the Swift task is
    /// cancelled: what waits for the calls does so no longer.
    public func finish() async {
        await session.provided.finish()
        await closeUncancelled()
    }
}

/// Connects, runs `body` with the bridge and closes it, also where `body` throws or its Swift task is cancelled.
///
/// - Parameters:
///   - socket: As for `Bridge.connect`.
///   - configuration: As for `Bridge.connect`.
///   - isolation: Where `body` runs: where the caller does.
///   - body: The work. The bridge is closed once it returns or throws.
/// - Returns: What `body` returns.
/// - Throws: What `Bridge.connect` throws, a `BridgeError`; what `body` throws.
public func withBridge<R>(
    socket: String? = nil, configuration: Bridge.Configuration = .init(),
    isolation: isolated (any Actor)? = #isolation, _ body: (Bridge) async throws -> sending R
) async throws -> sending R {
    let bridge = try await Bridge.connect(socket: socket, configuration: configuration)
    let result: R
    do {
        result = try await body(bridge)
    } catch {
        await bridge.closeUncancelled()
        throw error
    }
    await bridge.closeUncancelled()
    return result
}

extension Bridge {
    /// Closes it, also where the Swift task is cancelled: what was sent is to reach the daemon.
    fileprivate func closeUncancelled() async {
        await Task { [session] in await session.close() }.value
    }
}
