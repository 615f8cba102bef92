public import BridgeJSON

/// A provider does the work of a task: the daemon itself, a plugin's host, or a client.
protocol TaskProvider: AnyObject {
    /// What `bridge.describe` names as the task's home.
    var providerName: String { get }
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
    /// Answers what is known of a task's options and results, at once or later.
    ///
    /// - Parameter caller: as above.
    func describe(_ task: TaskEntry, to caller: Session?, _ done: @escaping (TaskSchemas) -> Void)
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
