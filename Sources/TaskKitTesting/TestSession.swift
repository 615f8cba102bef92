public import BridgeJSON
import BridgeMessage
import EventLoop
import TaskRuntime

/// A client of a test bridge. Any thread.
public final class TestSession: Sendable {
    private let client: TestClient

    init(client: TestClient) { self.client = client }

    /// The session's number on the bridge.
    public var number: UInt64 { get async { await client.number } }

    /// Calls a task and waits for the callback. Cancelling the Swift task cancels the call.
    ///
    /// - Returns: The result.
    /// - Throws: The ``BridgeError`` of the callback.
    @discardableResult
    public func call(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async throws -> JSON {
        try await callWithProgress(task, options, timeout: timeout).result
    }

    /// Calls a task that reports progress.
    ///
    /// - Returns: The progress values in order, and the result.
    /// - Throws: The ``BridgeError`` of the callback.
    public func callWithProgress(
        _ task: String, _ options: JSON = [:], timeout: Duration? = nil
    ) async throws -> (progress: [JSON], result: JSON) {
        let id = await client.begin(task, options, timeout)
        return try await withTaskCancellationHandler {
            try await client.outcome(of: id)
        } onCancel: {
            EventLoop.post { [client] in client.cancel(id) }
        }
    }

    /// Begins a call without waiting for its end. When this returns, the plugin has received the call.
    ///
    /// - Returns: The call's id, for ``outcome(of:)`` and ``cancel(_:)``.
    public func begin(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async -> Int64 {
        await client.begin(task, options, timeout)
    }

    /// Waits for the callback of a call that was begun. Call this once for each call. It waits without a time limit,
    /// because the clock does not move by itself.
    ///
    /// - Throws: The ``BridgeError`` of the callback; `session.closed` if the session closes before the callback.
    public func outcome(of id: Int64) async throws -> JSON { try await client.outcome(of: id).result }

    /// Cancels a call that was begun.
    public func cancel(_ id: Int64) async { await client.cancel(id) }

    /// Provides a task to others. `serve` is called for each call with its options, on no particular thread, and
    /// returns the answer. A ``BridgeError`` that it throws is sent to the caller; any other error is sent as
    /// `internal`.
    ///
    /// - Throws: A ``BridgeError``, such as `task.exists` if the name belongs to a plugin or the daemon.
    public func provide(_ task: String, _ serve: @escaping @Sendable (JSON) async throws -> JSON) async throws {
        await client.serve(task, serve)
        try await call("bridge.register", ["tasks": [.string(task)]])
    }

    /// Subscribes to events by their names. A name with `*` at its end matches all names with that prefix.
    ///
    /// - Throws: A ``BridgeError`` if a pattern is invalid.
    public func subscribe(_ patterns: String...) async throws {
        try await call("bridge.subscribe", ["events": .array(patterns.map(JSON.string))])
    }

    /// Waits for the next event and returns it. It waits without a time limit, so set a time limit for the test.
    public func nextEvent() async -> (name: String, data: JSON) { await client.nextEvent() }

    /// Sends a line unchanged, valid or not.
    public func send(line: String) async { await client.send(line: line) }

    /// Disconnects as a client does.
    public func hangUp() async { await client.hangUp() }

    /// Whether the connection is closed, by the bridge or by ``hangUp()``.
    public var isClosed: Bool { get async { await client.isClosed } }
}
