// Whether there is a connection, for programs to follow.

import BridgeJSON

/// Whether a bridge has a connection.
public enum ConnectionState: Sendable, Hashable {
    /// It has, and what it provides and listens to is restored, except for what the daemon refused.
    /// - What the daemon said of itself; nil where it does not let this program ask.
    /// - `isNew`: whether the session took the place of an earlier one: what belonged to that, such as a login, is
    ///   gone.
    /// - `refused`: tasks that the daemon did not take again.
    case open(DaemonInfo?, isNew: Bool, refused: [RefusedRegistration])
    /// It has none; another attempt follows. Calls wait.
    /// - `reason`: why not.
    /// - `attempts`: those before that failed or did not last, from 0.
    /// - `retryAfter`: when the next one is made, counted from now.
    case waiting(reason: BridgeError, attempts: Int, retryAfter: Duration)
    /// It has ended, and there will be no other connection: why.
    case closed(BridgeError)
}

/// A task that the daemon did not take again. Its handler is kept, and it is tried again with the next connection.
public struct RefusedRegistration: Sendable, Hashable {
    /// The task's name.
    public var task: String
    /// What the daemon said, such as `task.exists`.
    public var error: BridgeError

    /// A task that was refused.
    public init(task: String, error: BridgeError) {
        self.task = task
        self.error = error
    }
}
