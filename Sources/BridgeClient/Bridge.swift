// BridgeClient: the client library for Swift programs. Calls tasks, provides tasks, subscribes to events.
//
//   Connection/  one socket: input lines, bounded output, timers; and the mailboxes between loop and Swift tasks
//   Reconnecting/  reconnecting: pauses, states
//   Calls/       calls that this client makes
//   Providing/   tasks that this client provides
//   Streams/     bytes of any size
//   Events/      subscriptions of this client
//
// The objects that a program holds (Bridge, CallProgress, EventStream, Registration, IncomingCall) may be used from any
// thread. Everything behind them runs on the loop thread. The tables of calls, tasks and subscriptions belong to the
// session, not to the socket.

// The signatures of this module contain the ends of streams; see TaskKit.swift.
@_exported import ByteStreams
import BridgeJSON
import EventLoop
import Synchronization

/// A connection to the daemon.
///
/// It lasts until `close()`, or until the bridge and every object that it returned are released. `withBridge` closes it
/// at the end of a closure.
///
/// When the connection is lost, every call in flight ends with `session.closed`. `started` of the error is
/// false if no byte of the call had left this process, and true if the call may have had its effect. The bridge then
/// reconnects after growing pauses, unless `Configuration.reconnect` is `nil`. It restores its tasks and subscriptions
/// before it sends anything else; handlers and event streams remain valid. Calls that are made meanwhile wait, within
/// their timeouts. So do calls that a stopping daemon has refused without beginning them. Events that are published
/// meanwhile are missed: each event stream then gets one `bridge.events_dropped` whose `count` is null. A new
/// connection is a new session: when `states` reports one, the program must log in again and renew its watches of
/// tables. After `closeWeb` has ended a session, the bridge does not reconnect.
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
    ///   - socket: The socket's path, at most 107 bytes. If `nil`, the path in the environment variable
    ///     `TRESTLE_SOCKET`, else the user's own socket if it exists, else the system's socket.
    ///   - configuration: The program's description of itself, and whether it reconnects. This method retries the first
    ///     connection only if `waitForDaemon` is true.
    /// - Throws: `daemon.unreachable` if no daemon listens there, or no answer arrives within ten seconds;
    ///   `connection.denied` if this user may not open the socket; the daemon's error if it refuses this program's
    ///   description of itself; `call.cancelled` if the Swift task is cancelled while it waits for a daemon.
    @LoopActor
    public static func connect(
        socket: String? = nil, configuration: Configuration = .init()
    ) async throws(BridgeError) -> Bridge {
        try await connect(
            to: socket ?? SocketLocation.current().path, configuration, timers: LoopTimers(),
            random: { Double.random(in: 0...1) })
    }

    /// Connects like the public method, with a clock and random numbers that tests control.
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

    /// The daemon's description of itself for the current session, or for the last one. `nil` if the daemon does not
    /// let this program request it.
    public var daemon: DaemonInfo? { session.daemon.withLock { $0 } }

    /// The states of the connection: first the current one, then each change, until the bridge has ended. There may be
    /// any number of readers; each one uses a sequence of its own. The sequence does not keep the bridge alive.
    public var states: some AsyncSequence<ConnectionState, Never> & Sendable { stateStream }

    var stateStream: AsyncStream<ConnectionState> {
        let (states, reader) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(StateReaders.capacity))
        EventLoop.post { [session] in session.states.add(reader) }
        return states
    }

    // MARK: The end

    /// Waits until the bridge has ended; returns normally if `close()` ended it. If the Swift task is cancelled, closes
    /// the bridge and returns. For service groups. Calling it is optional: the bridge works from `connect` on.
    ///
    /// - Throws: The reason why there will be no other connection.
    public func run() async throws(BridgeError) {
        let reason = await session.link.ended()
        if Task.isCancelled {
            // Sent messages must reach the daemon although this Swift task is cancelled.
            return await Task { [session] in await session.close() }.value
        }
        if reason != .closedHere { throw reason }
    }

    /// Ends the bridge. Cancels the calls in flight; they and the calls that wait for a connection end with
    /// `session.closed`. Messages that have been sent are still delivered. Returns when the daemon has closed its end
    /// too, after at most one second; immediately if there is no connection.
    public func close() async {
        await session.close()
    }

    /// Ends the bridge after the calls of its tasks. Calls that have arrived are answered, and the daemon has received
    /// the answers when this returns. Later calls get `provider.closed`. Then closes the bridge like `close()`. If the
    /// Swift task is cancelled, it stops waiting for the calls and closes the bridge.
    public func finish() async {
        await session.provided.finish()
        await closeUncancelled()
    }
}

/// Connects, runs `body` with the bridge and closes it, also if `body` throws or its Swift task is cancelled.
///
/// - Parameters:
///   - socket: As for `Bridge.connect`.
///   - configuration: As for `Bridge.connect`.
///   - isolation: The actor on which `body` runs; by default the caller's.
///   - body: The work. The bridge is closed after it returns or throws.
/// - Returns: The result of `body`.
/// - Throws: A `BridgeError` from `Bridge.connect`; any error from `body`.
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
    /// Closes the bridge, also if the Swift task is cancelled: sent messages must reach the daemon.
    fileprivate func closeUncancelled() async {
        await Task { [session] in await session.close() }.value
    }
}
