public import BridgeJSON

/// A bridge with one plugin, wherever that runs: what ``withPlugin(_:in:library:configuration:_:)`` hands to a test.
/// Any thread.
public final class PluginBridge: Sendable {
    /// Where the plugin runs.
    public let environment: PluginEnvironment
    private let open: @Sendable () async throws -> PluginSession
    private let pass: @Sendable (Duration) async throws -> Void
    private let first: PluginSession

    /// - Parameter pass: lets time pass, for deadlines.
    init(
        _ environment: PluginEnvironment, pass: @escaping @Sendable (Duration) async throws -> Void,
        open: @escaping @Sendable () async throws -> PluginSession
    ) async throws {
        self.environment = environment
        self.pass = pass
        self.open = open
        first = try await open()
    }

    /// Another client that has just connected. Each has its own events and provided tasks.
    ///
    /// - Throws: ``BridgeError`` where a daemon does not take it.
    public func session() async throws -> PluginSession { try await open() }

    /// Lets time pass, so that one test of deadlines holds in all environments. In ``PluginEnvironment/live`` it waits,
    /// so let the time be short; elsewhere it moves the bridge's clock, and deadlines that come on the way take effect
    /// in their order. What the plugin itself waits for, as with `Task.sleep`, passes in real time everywhere.
    ///
    /// - Throws: `CancellationError` where the Swift task is cancelled while it waits.
    public func advance(by duration: Duration) async throws { try await pass(duration) }

    /// Calls a task, by a session that the bridge has from the beginning. Cancelling the Swift task cancels the call.
    ///
    /// - Parameter timeout: the call's deadline, in real time only where ``environment`` is
    ///   ``PluginEnvironment/live``; elsewhere the clock stands still until ``advance(by:)``. Nil: the task's own.
    /// - Returns: the result.
    /// - Throws: ``BridgeError`` as the callback bears it.
    @discardableResult
    public func call(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async throws -> JSON {
        try await first.call(task, options, timeout: timeout)
    }

    /// Calls a task that reports progress.
    ///
    /// - Returns: the progress, in order, and the result.
    /// - Throws: ``BridgeError`` as the callback bears it.
    public func callWithProgress(
        _ task: String, _ options: JSON = [:], timeout: Duration? = nil
    ) async throws -> (progress: [JSON], result: JSON) {
        try await first.callWithProgress(task, options, timeout: timeout)
    }
}

/// A client of a bridge with one plugin. Any thread.
public final class PluginSession: Sendable {
    /// What an environment does for a session.
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
    /// - Returns: the result.
    /// - Throws: ``BridgeError`` as the callback bears it.
    @discardableResult
    public func call(_ task: String, _ options: JSON = [:], timeout: Duration? = nil) async throws -> JSON {
        try await face.call(task, options, timeout).result
    }

    /// Calls a task that reports progress.
    ///
    /// - Returns: the progress, in order, and the result.
    /// - Throws: ``BridgeError`` as the callback bears it.
    public func callWithProgress(
        _ task: String, _ options: JSON = [:], timeout: Duration? = nil
    ) async throws -> (progress: [JSON], result: JSON) {
        try await face.call(task, options, timeout)
    }

    /// Provides a task to others, such as one that the plugin calls: `serve` is called for each call, with its options,
    /// on no particular thread, and its answer goes back.
    ///
    /// - Throws: ``BridgeError`` where the name is another's.
    public func provide(_ task: String, _ serve: @escaping @Sendable (JSON) async throws -> JSON) async throws {
        try await face.provide(task, serve)
    }

    /// Listens to events.
    ///
    /// - Parameter patterns: names; with `*` at the end all that begin so.
    /// - Throws: ``BridgeError`` where a pattern is none.
    public func subscribe(_ patterns: String...) async throws { try await face.subscribe(patterns) }

    /// The next event, which is waited for without a bound: let the test have a time limit.
    public func nextEvent() async -> (name: String, data: JSON) { await face.nextEvent() }

    /// Leaves, as a client that hangs up.
    public func leave() async { await face.leave() }
}

extension PluginSession {
    /// A client of a bridge in the test's own process.
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
