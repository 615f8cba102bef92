/// The time limit of a call.
public struct Timeout: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case standard, unlimited
        case after(Duration)
    }
    private let kind: Kind

    /// The default: for a task, the daemon's own timeout; for a call, the task's.
    public static let standard = Timeout(kind: .standard)
    /// No timeout.
    public static let unlimited = Timeout(kind: .unlimited)

    /// Returns a timeout of this duration. Zero and less become one nanosecond.
    public static func after(_ duration: Duration) -> Timeout { Timeout(kind: .after(duration)) }
    /// Returns a timeout in seconds.
    public static func seconds(_ seconds: Int) -> Timeout { .after(.seconds(seconds)) }
    /// Returns a timeout in milliseconds.
    public static func milliseconds(_ milliseconds: Int) -> Timeout { .after(.milliseconds(milliseconds)) }

    /// The duration; nil for standard and unlimited.
    public var duration: Duration? { if case .after(let duration) = kind { duration } else { nil } }

    /// The value in the C interface: nanoseconds; 0 for standard; negative for unlimited.
    package var nanoseconds: Int64 {
        switch kind {
        case .standard: 0
        case .unlimited: -1
        case .after(let duration): max(1, duration.clampedNanoseconds)
        }
    }
}

extension Duration {
    /// Whole nanoseconds; a value that does not fit into 64 bits (292 years) becomes the nearest that does.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// Milliseconds, rounded up, so that a wait is never shown too short.
    package var clampedMilliseconds: Int64 {
        let nanoseconds = clampedNanoseconds
        return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
    }
}
