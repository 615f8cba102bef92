public import BridgeJSON

/// A bridge with one plugin, in any environment: the value that ``withPlugin(_:in:library:configuration:_:)`` passes to
/// a test. Any thread.
public final class PluginBridge: Sendable {
    /// The environment in which the plugin runs.
    public let environment: PluginEnvironment
    private let open: @Sendable () async throws -> PluginSession
    private let pass: @Sendable (Duration) async throws -> Void
    private let first: PluginSession

    /// - Parameter pass: Lets time pass, for deadlines.
    init(
        _ environment: PluginEnvironment, pass: @escaping @Sendable (Duration) async throws -> Void,
        open: @escaping @Sendable () async throws -> PluginSession
    ) async throws {
        self.environment = environment
        self.pass = pass
        self.open = open
        first = try await open()
    }

    /// Connects another client. Each client has its own events and provided tasks.
    ///
    /// - Throws: A ``BridgeError`` if a daemon refuses the connection.
    public func session() async throws -> PluginSession { try await open() }

    /// Lets time pass, so that one test of deadlines works in all environments. In ``PluginEnvironment/live`` it waits,
    /// so use short times. In the other environments it moves the bridge's clock, and deadlines within that time take
    /// effect in their order. Waits of the plugin itself, such as `Task.sleep`, take real time in every environment.
    ///
    /// - Throws: `CancellationError` if the Swift task is cancelled while it waits.
    public func advance(by duration: Duration) async throws { try await pass(duration) }

    /// Calls a task through the session that the bridge has from the beginning. Cancelling the Swift task cancels the
    /// call.
    ///
    /// - Parameter timeout: The call's deadline; `nil` for the task's own. It runs in real time only in
    ///   ``PluginEnvironment/live``; in other environments the clock moves only with ``advance(by:)``.
    /// - Returns: The result.
    /// - Throws: The ``BridgeError`` of the callback.
    @discardableResult
    public func call(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async throws -> JSON {
        try await first.call(task, options, timeout: timeout)
    }

    /// Calls a task that reports progress.
    ///
    /// - Returns: The progress values in order, and the result.
    /// - Throws: The ``BridgeError`` of the callback.
    public func callWithProgress(
        _ task: String, _ options: JSON = [:], timeout: Duration? = nil
    ) async throws -> (progress: [JSON], result: JSON) {
        try await first.callWithProgress(task, options, timeout: timeout)
    }
}

/// A client of a bridge with one plugin. Any thread.
public final class PluginSession: Sendable {
    /// The functions that an environment implements for a session.
    struct Face: Sendable {
        var call: @Sendable (String, JSON, Duration?) async throws -> (progress: [JSON], result: JSON)
        var provide: @Sendable (String, @escaping @Sendable (JSON) async throws -> JSON) async throws -> Void
        var subscribe: @Sendable ([String]) async throws -> Void
        var nextEvent: @Sendable () async -> (name: String, data: JSON)
        var leave: @Sendable () async -> Void
    }

    private let face: Face

    init(_ face: Face) { self.face = face }

    /// Calls a task and waits for the callback. Cancelling the Swift task cancels the call.
    ///
    /// - Returns: The result.
    /// - Throws: The ``BridgeError`` of the callback.
    @discardableResult
    public func call(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async throws -> JSON {
        try await face.call(task, options, timeout).result
    }

    /// Calls a task that reports progress.
    ///
    /// - Returns: The progress values in order, and the result.
    /// - Throws: The ``BridgeError`` of the callback.
    public func callWithProgress(
        _ task: String, _ options: JSON = [:], timeout: Duration? = nil
    ) async throws -> (progress: [JSON], result: JSON) {
        try await face.call(task, options, timeout)
    }

    /// Provides a task to others, such as one that the plugin calls. `serve` is called for each call with its options,
    /// on no particular thread, and returns the answer.
    ///
    /// - Throws: A ``BridgeError`` if another provider has the name.
    public func provide(_ task: String, _ serve: @escaping @Sendable (JSON) async throws -> JSON) async throws {
        try await face.provide(task, serve)
    }

    /// Subscribes to events.
    ///
    /// - Parameter patterns: The names of events; a name with `*` at its end matches all names with that prefix.
    /// - Throws: A ``BridgeError`` if a pattern is invalid.
    public func subscribe(_ patterns: String...) async throws { try await face.subscribe(patterns) }

    /// Waits for the next event and returns it. It waits without a time limit, so set a time limit for the test.
    public func nextEvent() async -> (name: String, data: JSON) { await face.nextEvent() }

    /// Disconnects as a client does.
    public func leave() async { await face.leave() }
}

extension PluginSession {
    /// Creates a client of a bridge in the test's own process.
    convenience init(_ session: TestSession) {
        self.init(
            Face(
                call: { try await session.callWithProgress($0, $1, timeout: $2) },
                provide: { try await session.provide($0, $1) },
                subscribe: { patterns in
                    try await session.call("bridge.subscribe", ["events": .array(patterns.map(JSON.string))])
                },
                nextEvent: { await session.nextEvent() }, leave: { await session.hangUp() }))
    }
}
