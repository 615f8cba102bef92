import BridgeClient
import BridgeJSON

/// What the command line needs of a bridge: it works with JSON, and a lost connection ends it unless it says otherwise.
extension Bridge {
    /// Connects. A connection that is lost is not made again.
    ///
    /// - Parameter client: What the daemon calls this command in its lists.
    static func connectOnce(to path: String, as client: String = "trestle") async throws(BridgeError) -> Bridge {
        try await connect(
            socket: path, configuration: Configuration(client: client, version: Trestle.version, reconnect: nil))
    }

    /// Calls a task with JSON as options and result.
    ///
    /// - Parameter timeout: How long to wait; nil: as long as the task or the daemon allows.
    func callJSON(
        _ task: String, _ options: JSON = [:], session: SessionID? = nil, timeout: Duration? = nil
    ) async throws(BridgeError) -> JSON {
        try await call(task, options, session: session, timeout: timeout.map { .after($0) } ?? .standard)
    }

    /// The same for a task that reports progress.
    func callJSONWithProgress(
        _ task: String, _ options: JSON = [:], session: SessionID? = nil, timeout: Duration? = nil
    ) async throws(BridgeError) -> CallProgress<JSON, JSON> {
        try await callWithProgress(task, options, session: session, timeout: timeout.map { .after($0) } ?? .standard)
    }

    /// Waits until there will be no other connection. Unlike `run()` it leaves the bridge open where the Swift task is
    /// cancelled.
    ///
    /// - Throws: Why; `CancellationError`.
    func ended() async throws {
        for await state in states {
            if case .closed(let reason) = state { throw reason }
        }
        throw CancellationError()
    }
}
