internal import CTaskPlugin

/// The resources and operations of a plugin in its own name, outside any call. May be stored and used on any thread.
public struct PluginContext: Sendable {
    // Unretained because a runtime is never released; see `Plugin.export`.
    unowned(unsafe) let runtime: PluginRuntime

    /// The directory for the files of plugins. It exists; the names of a plugin's files should contain its name.
    public var stateDirectory: String { runtime.startOptions.stateDirectory }

    /// The options with which the daemon was launched.
    public var launch: LaunchOptions { runtime.startOptions.launch }

    /// The daemon's log.
    public var log: PluginLog { PluginLog(host: runtime.host, call: 0) }

    /// The executor whose thread is the daemon's loop thread. Work that the plugin starts outside calls and hooks
    /// belongs there too: `Task(executorPreference: context.executor) { … }`.
    public var executor: any TaskExecutor { runtime.executor }

    /// Runs `body` on the daemon's loop thread, soon, after everything that this thread has sent before: replies,
    /// events or another `body`. Messages that `body` sends follow those that wait by then. So messages that this
    /// thread sends after this call may arrive before them.
    public func post(_ body: @escaping @Sendable () -> Void) {
        runtime.host.post(body)
    }

    /// Calls a task in the plugin's own name, which the policy trusts. Otherwise this behaves, and throws, as
    /// `Call.call`.
    public func call<R: Decodable & Sendable, P: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard, onProgress: @escaping @Sendable (P) -> Void
    ) async throws(BridgeError) -> R {
        try await sender.call(task, options, session: session, timeout: timeout, onProgress: onProgress)
    }

    /// Calls a task in the plugin's own name, without receiving its progress; throws as `Call.call`.
    public func call<R: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard
    ) async throws(BridgeError) -> R {
        try await sender.call(task, options, session: session, timeout: timeout)
    }

    /// Runs `body` on a thread where it may block, and waits for it; throws as `Call.blocking`.
    public func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await runtime.blocking(body)
    }
}

/// The options with which the daemon was launched.
public struct LaunchOptions: Codable, Sendable, Hashable {
    /// The daemon's command line, beginning with the program's name.
    public var arguments: [String]

    /// Environment variables for plugins. Reserved: this version of the daemon passes none.
    public var environment: [String: String]?

    /// Creates launch options for a test.
    public init(arguments: [String] = [], environment: [String: String]? = nil) {
        self.arguments = arguments
        self.environment = environment
    }
}

/// The options of `start` and `launch`, as the C interface defines them.
///
/// Not a Codable type: the Swift runtime looks up the keys of such a type among all types of the process. With five
/// plugins that took one fiftieth of the daemon's start time.
struct StartOptions: Sendable {
    var stateDirectory = ""
    var launch = LaunchOptions()

    init() {}

    /// - Throws: The first value that does not match the interface.
    init(_ json: JSON) throws(JSONMismatch) {
        stateDirectory = try Self.text(json["stateDirectory"], at: "$.stateDirectory")
        launch.arguments = try Self.texts(json["launch"]?["arguments"])
        guard let environment = json["launch"]?["environment"]?.objectValue else { return }
        launch.environment = [:]
        for (name, value) in environment {
            launch.environment?[name] = try Self.text(value, at: "$.launch.environment.\(name)")
        }
    }

    private static func texts(_ json: JSON?) throws(JSONMismatch) -> [String] {
        let path = "$.launch.arguments"
        guard let values = json?.arrayValue else {
            throw JSONMismatch(path: path, expected: "an array of strings", got: json.map { "\($0)" } ?? "nothing")
        }
        var texts: [String] = []
        for (index, value) in values.enumerated() { texts.append(try text(value, at: "\(path)[\(index)]")) }
        return texts
    }

    private static func text(_ json: JSON?, at path: String) throws(JSONMismatch) -> String {
        if let text = json?.stringValue { return text }
        throw JSONMismatch(path: path, expected: "a string", got: json.map { "\($0)" } ?? "nothing")
    }
}
