// Whether there is a connection, for programs to follow.

import BridgeJSON

/// Whether a client has a connection.
public enum ConnectionState: Sendable, Hashable {
    /// It has, and what it provides and listens to is restored but for what the daemon refused.
    case connected(refused: [RefusedRegistration])
    /// It has none.
    /// - `reason`: why not.
    /// - `attempts`: those before that failed or did not last, from 0.
    /// - `retryAfter`: when the next one is made, counted from now.
    case disconnected(reason: BridgeError, attempts: Int, retryAfter: Duration)
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
