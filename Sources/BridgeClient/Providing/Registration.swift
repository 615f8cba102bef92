import BridgeJSON
import EventLoop

/// A task that a bridge provides until `unregister()` or the end of the bridge; releasing this value does not end it.
public final class Registration: Sendable {
    private let bridge: Bridge
    private let provided: ProvidedTask

    init(_ bridge: Bridge, _ provided: ProvidedTask) {
        self.bridge = bridge
        self.provided = provided
    }

    /// The task's name.
    public var task: String { provided.task }

    /// Stops providing the task; calls that have already arrived continue. Waits for the daemon's answer. Does nothing
    /// if the task is no longer provided, or was registered again since: the later registration remains.
    /// - Throws: The daemon's error; the reason why there is no connection.
    public func unregister() async throws(BridgeError) {
        try await bridge.session.provided.unregister(provided)
    }
}

extension Bridge {
    /// Provides a task: the daemon forwards calls of other clients to `handler`, also over every new connection.
    ///
    /// Each call runs in a Swift task of its own on Swift's thread pool, so several may run in parallel and in any
    /// order. That Swift task is cancelled when the caller cancels, times out or disconnects. The handler's result or
    /// error becomes the callback: a `BridgeError` unchanged, `CancellationError` as `call.cancelled`, all others as
    /// `internal`.
    ///
    ///     try await bridge.register("greet") { (who: Who, call) in "Hello, \(who.name)" }
    ///
    /// - Parameters:
    ///   - task: The task's name: 1 to 128 of the characters A-Z, a-z, 0-9 and . _ / : -
    ///   - scope: The calls that the task accepts.
    ///   - description: The description that the daemon shows to clients and by which it checks options; `nil` for
    ///     none.
    ///   - handler: Receives the options, as `JSON` or another type, and the call. Options that do not fit the type, or
    ///     have members unknown to it, are answered with `options.invalid`.
    /// - Returns: The registration, which can end it. It need not be kept.
    /// - Throws: `task.exists` if the name belongs to a plugin; other errors of the daemon.
    @discardableResult
    public func register<Options: Decodable & Sendable, Result: Encodable & Sendable>(
        _ task: String, scope: ProviderScope = .any, description: TaskDescription? = nil,
        _ handler: @escaping @Sendable (Options, IncomingCall) async throws -> Result
    ) async throws(BridgeError) -> Registration {
        let streamReaders = session.streamReaders
        let provided = ProvidedTask(task: task, scope: scope, description: description) { json, call in
            let options: Options
            do throws(JSONMismatch) {
                options = try CallJSON.value(
                    Options.self, json, streamReaders(call), unknownKeys: .refuse)
            } catch {
                throw BridgeError(error)
            }
            let result = try await handler(options, call)
            if let json = result as? JSON { return json }
            return try JSONCoding.json(result)
        }
        try await session.provided.register(provided)
        return Registration(self, provided)
    }
}
