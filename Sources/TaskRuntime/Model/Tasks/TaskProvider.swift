public import BridgeJSON

/// A provider does the work of a task: the daemon itself, a plugin's host, or a client.
protocol TaskProvider: AnyObject {
    /// What `bridge.describe` names as the task's home.
    var providerName: String { get }
    /// The plugin that it is; nil: it is none.
    var queue: (any QueueingProvider)? { get }
    /// Whether it is the daemon itself.
    var isDaemon: Bool { get }
    /// Whether clients provide the task, so that a call can name the session that gets it.
    var isOfClients: Bool { get }
    /// Begins the call. It may end before this returns.
    ///
    /// - Parameters:
    ///   - task: the call's task.
    ///   - options: borrowed until this returns.
    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer)
    /// The call has ended for its caller before the work did: stop working on it.
    func abandon(_ call: Call, reason: CancelReason)
    /// What is known of a task's options and results now, without asking the provider.
    ///
    /// - Parameter caller: whose calls it is to be right for; nil: those of a plugin or the daemon.
    func schemaTexts(of task: TaskEntry, for caller: Session?) -> SchemaTexts
    /// Answers what is known of a task's options and results, immediately or later.
    ///
    /// - Parameter caller: as above.
    func describe(_ task: TaskEntry, to caller: Session?, _ done: @escaping (TaskSchemas) -> Void)
}

extension TaskProvider {
    /// Most providers are none of these.
    var queue: (any QueueingProvider)? { nil }
    var isDaemon: Bool { false }
    var isOfClients: Bool { false }
}

/// A provider in which calls wait for their turn, and which makes calls and answers interceptors' questions: a plugin.
protocol QueueingProvider: TaskProvider {
    var name: String { get }
    /// Its number among all plugins that there ever were.
    var number: UInt64 { get }
    /// Whether it takes calls.
    var isRunning: Bool { get }
    /// Whether it gets no more calls, and finishes.
    var isLeaving: Bool { get }
    /// A user has as many calls there that have ended, and that it still works on, as they may.
    func noteCrowding()
    /// Calls of its tasks that have not ended.
    var taskCallsInFlight: Int { get }
    /// Calls that it has made and that have not ended.
    var ownCallsInFlight: Int { get set }
    /// An interceptor has the call in hand: until it is decided, no later call of its session begins before it.
    func keepPosition(of call: Call)
    /// The call begins, goes elsewhere, or has ended.
    func leaveQueue(of call: Call)
    /// The call is decided, and goes on in its turn.
    func proceed(_ call: Call, options: UnsafeRawBufferPointer)
    /// Goes on with what is to be done, as far as the plugin's share of the turn goes.
    func continueWork()
}

/// Why work is no longer wanted.
public enum CancelReason: UInt32, Sendable {
    /// The caller said so, or an operator did.
    case caller = 0
    /// The deadline passed.
    case timeout = 1
    /// The caller is gone.
    case gone = 2
    /// The daemon is stopping.
    case shutdown = 3
}

/// How a call ends.
public enum CallOutcome {
    /// With a result: JSON that has been checked. Borrowed.
    case result(UnsafeRawBufferPointer)
    /// With an error.
    case failure(BridgeError)

    var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
