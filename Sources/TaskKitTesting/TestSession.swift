public import BridgeJSON
import BridgeMessage
import EventLoop
import TaskRuntime

/// A client of a test bridge. Any thread.
public final class TestSession: Sendable {
    private let client: TestClient

    init(client: TestClient) { self.client = client }

    /// Its number on the bridge.
    public var number: UInt64 { get async { await client.number } }

    /// Calls a task and waits for the callback. Cancelling the Swift task cancels the call.
    ///
    /// - Returns: the result.
    /// - Throws: ``BridgeError`` as the callback bears it.
    @discardableResult
    public func call(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async throws -> JSON {
        try await callWithProgress(task, options, timeout: timeout).result
    }

    /// Calls a task that reports progress.
    ///
    /// - Returns: the progress, in order, and the result.
    /// - Throws: ``BridgeError`` as the callback bears it.
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

    /// Begins a call and does not wait for it: when this returns the plugin has been called.
    ///
    /// - Returns: its id, for ``outcome(of:)`` and ``cancel(_:)``.
    public func begin(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async -> Int64 {
        await client.begin(task, options, timeout)
    }

    /// Waits for the callback of a call that was begun; once for each, and without a bound: the clock stands still.
    ///
    /// - Throws: ``BridgeError`` as the callback bears it; `session.closed` where the session closes before one comes.
    public func outcome(of id: Int64) async throws -> JSON { try await client.outcome(of: id).result }

    /// Cancels a call that was begun.
    public func cancel(_ id: Int64) async { await client.cancel(id) }

    /// Provides a task to others: `serve` is called for each call, with its options, on no particular thread, and its
    /// answer goes back. A ``BridgeError`` that it throws is the caller's error, any other `internal`.
    ///
    /// - Throws: ``BridgeError``, `task.exists` where the name belongs to a plugin.
    public func provide(_ task: String, _ serve: @escaping @Sendable (JSON) async throws -> JSON) async throws {
        await client.serve(task, serve)
        try await call("bridge.register", ["tasks": [.string(task)]])
    }

    /// Listens to events, by their names; one with `*` at its end stands for all that begin so.
    ///
    /// - Throws: ``BridgeError`` where a pattern is none.
    public func subscribe(_ patterns: String...) async throws {
        try await call("bridge.subscribe", ["events": .array(patterns.map(JSON.string))])
    }

    /// The next event, which is waited for without a bound: let the test have a time limit.
    public func nextEvent() async -> (name: String, data: JSON) { await client.nextEvent() }

    /// Sends a line as it is, good or bad.
    public func send(line: String) async { await client.send(line: line) }

    /// Leaves, as a client that hangs up.
    public func hangUp() async { await client.hangUp() }

    /// Whether the bridge closed the connection.
    public var isClosed: Bool { get async { await client.isClosed } }
}
