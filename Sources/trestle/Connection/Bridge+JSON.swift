import BridgeClient
import BridgeJSON

/// Additions for the command line: it works with JSON, and by default a lost connection ends it.
extension Bridge {
    /// Connects without reconnecting after a lost connection.
    ///
    /// - Parameter client: The name of this command in the daemon's lists.
    static func connectOnce(to path: String, as client: String = "trestle") async throws(BridgeError) -> Bridge {
        try await connect(
            socket: path, configuration: Configuration(client: client, version: Trestle.version, reconnect: nil))
    }

    /// Calls a task with JSON as options and result.
    ///
    /// - Parameter timeout: The maximum time; `nil` uses the limit of the task or the daemon.
    func callJSON(
        _ task: String, _ options: JSON = [:], session: SessionID? = nil, timeout: Duration? = nil
    ) async throws(BridgeError) -> JSON {
        try await call(task, options, session: session, timeout: timeout.map { .after($0) } ?? .standard)
    }

    /// Calls a task that reports progress.
    func callJSONWithProgress(
        _ task: String, _ options: JSON = [:], session: SessionID? = nil, timeout: Duration? = nil
    ) async throws(BridgeError) -> CallProgress<JSON, JSON> {
        try await callWithProgress(task, options, session: session, timeout: timeout.map { .after($0) } ?? .standard)
    }

    /// Waits until the connection is closed permanently. Unlike `run()`, leaves the bridge open if the Swift task is
    /// cancelled.
    ///
    /// - Throws: The reason; `CancellationError`.
    func ended() async throws {
        for await state in states {
            if case .closed(let reason) = state { throw reason }
        }
        throw CancellationError()
    }
}
