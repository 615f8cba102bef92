// BridgeClient: the bridge from the other end, for Swift programs: call tasks, provide tasks, listen to events.
//
//   Connection/  one socket: lines in, bounded output, the loop thread; and what outlives it
//   Reconnecting/  one connection after the other: pauses, states
//   Calls/       calls that this end makes
//   Providing/   tasks that this end provides
//   Events/      what this end listens to
//
// What a program holds (BridgeClient, CallProgress, EventStream, IncomingCall) may be used from any thread; everything
// behind it lives on the loop thread. Tables of calls, tasks and subscriptions belong to the session, not to the
// socket.

import BridgeJSON
import EventLoop
import Synchronization

/// A connection to the daemon.
///
/// Lives until `close()`, or until nobody holds the client, or anything that came from it, any more.
///
/// When the connection is lost, every call that has been made ends with `session.closed`. `data.started` is false where
/// nothing of it had left this process; true where the call may have had its effect.
///
/// That is the end of the client, unless it was connected with `reconnect`: then it connects again, after pauses that
/// grow. What it provides and listens to is restored before anything else is sent; handlers and streams of events live
/// on. Calls that are made meanwhile wait, within their timeouts, and so do those that a stopping daemon has refused
/// without beginning them. What is published meanwhile is missed. A new connection is a new session: a login, and
/// watches of tables, are to be made anew when `states` says that it is there. A session that `closeWeb` ends is not
/// made again.
public final class BridgeClient: Sendable {
    /// What the daemon said of itself in answer to `bridge.hello`: protocol, session, daemon, features, limits; after
    /// reconnecting what the newest one said. Nil where it does not let this peer ask.
    public var hello: JSON? { session.hello.withLock { $0 } }

    let session: ClientSession

    private init(_ session: ClientSession) {
        self.session = session
    }

    deinit {
        Task { [session] in await session.close() }
    }

    /// Connects to the daemon's socket and introduces this client.
    ///
    /// - Parameters:
    ///   - path: the socket's path, at most 107 bytes.
    ///   - client: what the daemon shall call this program in its lists.
    ///   - version: this program's version.
    ///   - origin: what this program speaks for; nil: `local`.
    ///   - reconnect: how to connect again when the connection is lost; nil: not at all. This first connection is never
    ///     waited for.
    /// - Throws: `daemon.unreachable` where nobody listens there, or no answer comes within ten seconds; what the
    ///   daemon says where it does not take the client for what it says it is.
    @LoopActor
    public static func connect(
        to path: String, as client: String? = nil, version: String? = nil, origin: String? = nil,
        reconnect: Reconnection? = nil
    ) async throws(BridgeError) -> BridgeClient {
        try await connect(
            to: path, .init(client: client, version: version, origin: origin), reconnect, timers: LoopTimers(),
            random: { Double.random(in: 0...1) })
    }

    /// As the public one; with a clock and with chances that tests move.
    @LoopActor
    static func connect(
        to path: String, _ introduction: ClientSession.Introduction, _ reconnection: Reconnection?,
        timers: any ClientTimers, random: @escaping @LoopActor () -> Double
    ) async throws(BridgeError) -> BridgeClient {
        let link = Link(path: path, reconnection: reconnection, timers: timers, random: random)
        let session = ClientSession(link, introduction)
        try await link.connect()
        return BridgeClient(session)
    }

    // MARK: The connection

    /// Whether there is a connection: how it is now, and then each change, until the client has ended. Any number of
    /// readers, each with a sequence of its own. The sequence does not keep the client alive.
    public var states: AsyncStream<ConnectionState> {
        let (states, reader) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(StateReaders.capacity))
        EventLoop.post { [session] in session.states.add(reader) }
        return states
    }

    // MARK: Calls

    /// Calls a task and waits for its callback.
    ///
    /// Where the Swift task that waits is cancelled, the daemon is told, and the call ends at once with
    /// `call.cancelled`.
    /// - Parameters:
    ///   - session: only a task that this session registered.
    ///   - timeout: how long to wait, at least a millisecond; nil: as long as the task or the daemon allows.
    /// - Throws: what the callback says; `session.closed` where the connection is lost.
    public func call(
        _ task: String, options: JSON = [:], session: UInt64? = nil, timeout: Duration? = nil
    ) async throws(BridgeError) -> JSON {
        try await self.session.calls.call(CallRequest(task, options, session: session, timeout: timeout))
    }

    /// As `call(_:options:session:timeout:)`, with Swift types for options and result.
    /// - Throws: also `options.invalid` where the options have no JSON, and `result.invalid` where the result does not
    ///   fit its type.
    public func call<Options: Encodable & Sendable, Result: Decodable & Sendable>(
        _ task: String, _ options: Options, as result: Result.Type = Result.self, session: UInt64? = nil,
        timeout: Duration? = nil
    ) async throws(BridgeError) -> Result {
        let json: JSON
        do throws(JSONEncodingError) {
            json = try JSONCoding.json(options)
        } catch {
            throw BridgeError(.optionsInvalid, "the options for \(task) have no JSON: \(error)")
        }
        let answer = try await call(task, options: json, session: session, timeout: timeout)
        do throws(JSONMismatch) {
            return try JSONCoding.decode(Result.self, from: answer)
        } catch {
            throw BridgeError(.resultInvalid, "the result of \(task) does not fit: \(error)")
        }
    }

    /// Calls a task that reports progress. The call has been sent when this returns.
    public func stream(
        _ task: String, options: JSON = [:], session: UInt64? = nil, timeout: Duration? = nil
    ) async throws(BridgeError) -> CallProgress {
        let request = CallRequest(task, options, session: session, timeout: timeout)
        return CallProgress(self, try await self.session.calls.begin(request))
    }

    /// Calls a task without waiting for anything, or ever hearing what became of it. Returns when there is room for the
    /// message in this client's output.
    public func send(_ task: String, options: JSON = [:], session: UInt64? = nil) async throws(BridgeError) {
        try await self.session.calls.send(CallRequest(task, options, session: session, timeout: nil))
    }

    // MARK: Providing

    /// Provides a task: the daemon forwards others' calls of it to `handler`, until `unregister`.
    ///
    /// Each call runs in a Swift task of its own, on Swift's thread pool, so several may run at once and in any order.
    /// That task is cancelled when the caller cancels, times out or leaves. What the handler returns or throws becomes
    /// the callback: a `BridgeError` as it is, `CancellationError` as `call.cancelled`, all else as `internal`.
    /// - Parameters:
    ///   - scope: whose calls are taken.
    ///   - description: what the daemon tells of the task to who asks, and by which it checks options.
    /// - Throws: `task.exists` where the name belongs to a plugin, or what else the daemon says.
    public func register(
        _ task: String, scope: ProviderScope = .any, description: TaskDescription? = nil,
        handler: @escaping TaskHandler
    ) async throws(BridgeError) {
        try await session.provided.register(
            Registration(task: task, scope: scope, description: description), handler)
    }

    /// Provides a task no more; calls that have come already go on.
    public func unregister(_ task: String) async throws(BridgeError) {
        try await session.provided.unregister(task)
    }

    // MARK: Events

    /// Listens to events: names, with `*` at the end as a wildcard. Ends when the stream is no longer held.
    public func subscribe(_ patterns: [String]) async throws(BridgeError) -> EventStream {
        EventStream(self, try await session.events.subscribe(patterns))
    }

    // MARK: The end

    /// Ends the client: calls in flight are cancelled, and end with `session.closed` as those do that wait for a
    /// connection; what has been sent is still delivered. Returns when the daemon has closed its end too, after a
    /// second at the latest; at once where there is no connection.
    public func close() async {
        await session.close()
    }

    /// Returns when the client has ended, whoever ended it: the reason. A lost connection that is made again is no end.
    public func closed() async -> BridgeError {
        await session.link.ended()
    }
}
