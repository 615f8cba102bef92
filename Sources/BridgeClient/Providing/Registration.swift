import BridgeJSON
import EventLoop

/// A task that a bridge provides, until `unregister()` or the bridge's end; releasing this value does not end it.
public final class Registration: Sendable {
    private let bridge: Bridge
    private let provided: ProvidedTask

    init(_ bridge: Bridge, _ provided: ProvidedTask) {
        self.bridge = bridge
        self.provided = provided
    }

    /// The task's name.
    public var task: String { provided.task }

    /// No longer provides the task; calls that have come already go on. Waits for the daemon's answer. Does nothing
    /// where that has been done, or the task has been registered again since: the later registration holds.
    /// - Throws: What the daemon says; why there is no connection.
    public func unregister() async throws(BridgeError) {
        try await bridge.session.provided.unregister(provided)
    }
}

extension Bridge {
    /// Provides a task: the daemon forwards others' calls of it to `handler`, over every new connection too.
    ///
    /// Each call runs in a Swift task of its own, on Swift's thread pool, so several may run in parallel and in any
    /// order. That task is cancelled when the caller cancels, times out or leaves. What the handler returns or throws
    /// becomes the callback: a `BridgeError` as it is, `CancellationError` as `call.cancelled`, all else as `internal`.
    ///
    ///     try await bridge.register("greet") { (who: Who, call) in "Hello, \(who.name)" }
    ///
    /// - Parameters:
    ///   - task: The task's name: 1 to 128 of the characters A-Z, a-z, 0-9 and . _ / : -
    ///   - scope: Whose calls are taken.
    ///   - description: What the daemon shows of the task to who asks, and by which it checks options.
    ///   - handler: Gets the options, `JSON` or another type, and the call. Options that do not fit the type, or have
    ///     members that it does not know, are answered `options.invalid`.
    /// - Returns: What ends it. It need not be kept.
    /// - Throws: `task.exists` where the name belongs to a plugin, or what else the daemon says.
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
