import BridgeJSON

/// Which failed calls are made again automatically. A call is made at most five times in total, within its timeout. The
/// pause is the error's `retryAfter`, or grows from 50 ms to 5 seconds.
///
/// A call that was cancelled, whose deadline passed, or for which there was no connection is never made again. The
/// error that is finally thrown is that of the last attempt; its `started` does not cover earlier attempts.
public enum Retry: String, Sendable, Hashable, CaseIterable {
    /// None: every error is thrown.
    case never
    /// Calls that certainly have not begun (`started` is false) and may succeed later. Always safe.
    case unstarted
    /// All calls that may succeed later (`isTransient`): for tasks that may safely run twice.
    case transient

    /// The maximum number of attempts, including the first.
    static let maximumAttempts = 5
    static let backoff = Backoff(initial: .milliseconds(50), maximum: .seconds(5))

    /// Whether a call that ended with this error may be made again.
    func allows(_ error: BridgeError) -> Bool {
        // A caller that cancelled does not want a repetition. After the deadline the caller no longer waits. A call
        // without a connection has already waited for one.
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
