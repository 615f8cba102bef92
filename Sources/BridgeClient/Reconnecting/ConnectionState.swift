// The connection state that programs observe.

import BridgeJSON

/// The state of a bridge's connection.
public enum ConnectionState: Sendable, Hashable {
    /// The bridge is connected. Its tasks and subscriptions are restored, except those that the daemon refused.
    /// - The daemon's description of itself; `nil` if the daemon does not let this program request it.
    /// - `isNew`: Whether the session replaced an earlier one. State of the earlier one, such as a login, is lost.
    /// - `refused`: The tasks whose registration the daemon refused this time.
    case open(DaemonInfo?, isNew: Bool, refused: [RefusedRegistration])
    /// The bridge is not connected; another attempt follows. Calls wait.
    /// - `reason`: The reason why there is no connection.
    /// - `attempts`: The number of previous attempts that failed or did not last, from 0.
    /// - `retryAfter`: The time from now to the next attempt.
    case waiting(reason: BridgeError, attempts: Int, retryAfter: Duration)
    /// The bridge has ended with this reason; there will be no other connection.
    case closed(BridgeError)
}

/// A task whose registration the daemon refused after a reconnection. The bridge keeps its handler and registers it
/// again with the next connection.
public struct RefusedRegistration: Sendable, Hashable {
    /// The task's name.
    public var task: String
    /// The daemon's error, such as `task.exists`.
    public var error: BridgeError

    /// Creates a refused registration.
    public init(task: String, error: BridgeError) {
        self.task = task
        self.error = error
    }
}
