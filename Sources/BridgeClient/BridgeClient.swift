// BridgeClient: the bridge from the other end, for Swift programs: call tasks, provide tasks, listen to events.
//
//   Connection/  one socket: lines in, bounded output, the loop thread
//   Calls/       calls that this end makes
//   Providing/   tasks that this end provides
//   Events/      what this end listens to
//
// What a program holds (BridgeClient, CallProgress, EventStream, IncomingCall) may be used from any thread; everything
// behind it lives on the loop thread. Tables of calls, tasks and subscriptions belong to the session, not to the socket.

import BridgeJSON
import EventLoop

/// A connection to the daemon.
///
/// Lives until `close()`, or until nobody holds the client, or anything that came from it, any more. When the connection
/// is lost, every call ends with `session.closed`: whether its task had begun is not known then. There is no reconnecting.
public final class BridgeClient: Sendable {
    /// What the daemon said of itself in answer to `bridge.hello`: protocol, session, daemon, features, limits. Nil where
    /// it does not let this peer ask.
    public let hello: JSON?

    let session: ClientSession

    private init(_ session: ClientSession, hello: JSON?) {
        self.session = session
        self.hello = hello
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
    /// - Throws: `daemon.unreachable` where nobody listens there, or no answer comes within ten seconds.
    @LoopActor
    public static func connect(
        to path: String, as client: String? = nil, version: String? = nil
    ) async throws(BridgeError) -> BridgeClient {
        let session = ClientSession(try await ClientConnection.connect(path: path))
        var options = JSONObject()
        options["client"] = client.map(JSON.string)
        options["version"] = version.map(JSON.string)
        do throws(BridgeError) {
            let request = CallRequest("bridge.hello", .object(options), session: nil, timeout: .seconds(10))
            let hello = try await session.calls.call(request)
            if let limit = hello["limits"]?["messageBytes"]?.int64Value { session.connection.messageBytes = Int(limit) }
            return BridgeClient(session, hello: hello)
        } catch {
            switch error.code {
            case .permissionDenied, .taskNotFound:
                return BridgeClient(session, hello: nil)
            case .callTimeout, .sessionClosed:
                session.connection.close(.closedHere)
                throw .unreachable(path, "it takes connections but does not answer")
            default:
                session.connection.close(.closedHere)
                throw error
            }
        }
    }

    // MARK: Calls

    /// Calls a task and waits for its callback.
    ///
    /// Where the Swift task that waits is cancelled, the daemon is told, and the call ends at once with `call.cancelled`.
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
    /// - Parameter scope: whose calls are taken.
    /// - Throws: `task.taken` where the name belongs to a plugin, or what else the daemon says.
    public func register(
        _ task: String, scope: ProviderScope = .any, handler: @escaping TaskHandler
    ) async throws(BridgeError) {
        try await session.provided.register(task, scope, handler)
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

    /// Ends the connection: calls in flight are cancelled and end with `session.closed`; what has been sent is still
    /// delivered. Returns when the daemon has closed its end too, after a second at the latest.
    public func close() async {
        await session.close()
    }

    /// Returns when the connection has ended, whoever ended it: the reason.
    public func closed() async -> BridgeError {
        await session.connection.ended()
    }
}

extension ErrorCode {
    /// Nobody listens at the socket, or does not answer.
    public static let daemonUnreachable: ErrorCode = "daemon.unreachable"
    /// There is a socket, but this user may not open it.
    public static let connectionDenied: ErrorCode = "daemon.denied"
    /// A result does not fit the type that this program wants.
    public static let resultInvalid: ErrorCode = "result.invalid"
}

extension BridgeError {
    static func unreachable(_ path: String, _ reason: String) -> BridgeError {
        BridgeError(
            .daemonUnreachable, "no daemon at \(path): \(reason)", data: ["path": .string(path)], isTransient: true)
    }

    /// The socket is there, and not for everybody.
    static func closedToUs(_ path: String) -> BridgeError {
        BridgeError(
            .connectionDenied,
            "the socket \(path) may not be opened by this user: its owner, group and mode say by whom",
            data: ["path": .string(path)])
    }

    /// The end that this program wanted.
    static let closedHere = BridgeError(.sessionClosed, "the connection to the daemon was closed here")

    /// A call that ended here because its Swift task was cancelled.
    static func cancelledHere(_ task: String, started: Bool?) -> BridgeError {
        BridgeError(
            .callCancelled, "the call of \(task) was cancelled here",
            data: started.map { ["started": .bool($0)] })
    }
}
