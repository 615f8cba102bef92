import BridgeJSON

/// Which calls are made again by themselves: at most five times in all, within the timeout, each time after the error's
/// `retryAfter` or a pause that grows from 50 ms to 5 seconds.
///
/// A call that was cancelled, whose deadline passed, or for which no connection came is never made again. The error
/// that is thrown in the end is that of the last attempt; `started` says nothing of those before.
public enum Retry: String, Sendable, Hashable, CaseIterable {
    /// None: every error is thrown.
    case never
    /// What certainly has not begun (`started` is false) and may succeed later. Always safe.
    case unstarted
    /// Whatever may succeed later (`isTransient`): for tasks of which twice does no harm.
    case transient

    /// How often a call is made at most, the first time included.
    static let maximumAttempts = 5
    static let backoff = Backoff(initial: .milliseconds(50), maximum: .seconds(5))

    /// Whether a call that ended so may be made again.
    func allows(_ error: BridgeError) -> Bool {
        // A caller that cancelled does not want it again; after its deadline no one waits; without a connection it has
        // waited.
        guard error.isTransient, ![.callCancelled, .callTimeout, .daemonUnreachable].contains(error.code) else {
            return false
        }
        return switch self {
        case .never: false
        case .unstarted: error.started == false
        case .transient: true
        }
    }
}
