/// How long a call may take.
public struct Timeout: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case standard, unlimited
        case after(Duration)
    }
    private let kind: Kind

    /// What applies if nothing is said: to a task, the daemon's own timeout; to a call, the task's.
    public static let standard = Timeout(kind: .standard)
    /// No timeout.
    public static let unlimited = Timeout(kind: .unlimited)

    /// This long. Zero and less are one nanosecond.
    public static func after(_ duration: Duration) -> Timeout { Timeout(kind: .after(duration)) }
    /// So many seconds.
    public static func seconds(_ seconds: Int) -> Timeout { .after(.seconds(seconds)) }
    /// So many milliseconds.
    public static func milliseconds(_ milliseconds: Int) -> Timeout { .after(.milliseconds(milliseconds)) }

    /// The time, if it is one: neither standard nor unlimited.
    public var duration: Duration? { if case .after(let duration) = kind { duration } else { nil } }

    /// The form in which it crosses the C interface: nanoseconds; 0: standard; negative: unlimited.
    package var nanoseconds: Int64 {
        switch kind {
        case .standard: 0
        case .unlimited: -1
        case .after(let duration): max(1, duration.clampedNanoseconds)
        }
    }
}

extension Duration {
    /// Whole nanoseconds; what does not fit in 64 bits (292 years) becomes the nearest that does.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// Milliseconds, rounded up, so that a wait is never shown shorter than it is.
    package var clampedMilliseconds: Int64 {
        let nanoseconds = clampedNanoseconds
        return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
    }
}
