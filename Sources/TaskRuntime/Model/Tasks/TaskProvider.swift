public import BridgeJSON

/// The provider that does the work of a task: the daemon itself, a plugin's host, or a client.
protocol TaskProvider: AnyObject {
    /// The name that `bridge.describe` shows for the provider.
    var providerName: String { get }
    /// The plugin; `nil` if the provider is not a plugin.
    var queue: (any QueueingProvider)? { get }
    /// Whether the provider is the daemon itself.
    var isDaemon: Bool { get }
    /// Whether clients provide the task, so that a call can name the session that receives it.
    var isOfClients: Bool { get }
    /// Begins the call. It may end before this returns.
    ///
    /// - Parameters:
    ///   - task: The call's task.
    ///   - options: Borrowed until this returns.
    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer)
    /// Stops the work on a call: it has ended for its caller before the work did.
    func abandon(_ call: Call, reason: CancelReason)
    /// Returns the current schemas of a task, without asking the provider.
    ///
    /// - Parameter caller: The session whose calls they must be valid for; `nil` for calls of a plugin or the daemon.
    func schemaTexts(of task: TaskEntry, for caller: Session?) -> SchemaTexts
    /// Calls `done` with the schemas of a task, immediately or later.
    ///
    /// - Parameter caller: As above.
    func describe(_ task: TaskEntry, to caller: Session?, _ done: @escaping (TaskSchemas) -> Void)
}

extension TaskProvider {
    /// The defaults: most providers are none of these.
    var queue: (any QueueingProvider)? { nil }
    var isDaemon: Bool { false }
    var isOfClients: Bool { false }
}

/// A provider with a queue of waiting calls, which also makes calls and answers interceptors' questions: a plugin.
protocol QueueingProvider: TaskProvider {
    var name: String { get }
    /// The plugin's number, unique among all plugins since the start.
    var number: UInt64 { get }
    /// Whether it accepts calls.
    var isRunning: Bool { get }
    /// Whether it receives no more calls and is finishing.
    var isLeaving: Bool { get }
    /// Reports that a user has reached the limit of ended calls on which the plugin still works.
    func noteCrowding()
    /// The number of calls of its tasks that have not ended.
    var taskCallsInFlight: Int { get }
    /// The number of calls that it has made and that have not ended.
    var ownCallsInFlight: Int { get set }
    /// Keeps the call's position while an interceptor decides: no later call of its session begins before it.
    func keepPosition(of call: Call)
    /// Removes a call from the queue: it begins, moves to another provider, or has ended.
    func leaveQueue(of call: Call)
    /// Continues a call in its turn after the interceptors' decision.
    func proceed(_ call: Call, options: UnsafeRawBufferPointer)
    /// Continues pending work within the plugin's share of the turn.
    func continueWork()
}

/// Why work is not needed any more.
public enum CancelReason: UInt32, Sendable {
    /// The caller or an operator cancelled the call.
    case caller = 0
    /// The deadline passed.
    case timeout = 1
    /// The caller has disconnected.
    case gone = 2
    /// The daemon is stopping.
    case shutdown = 3
}

/// The outcome of a call.
public enum CallOutcome {
    /// A result: JSON that has been checked. Borrowed.
    case result(UnsafeRawBufferPointer)
    /// An error.
    case failure(BridgeError)

    var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
