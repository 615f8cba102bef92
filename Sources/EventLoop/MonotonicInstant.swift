import CLibuv

/// A point in time on CLOCK_MONOTONIC, which starts near boot, never jumps and stops while the machine is suspended.
public struct MonotonicInstant: Sendable, Comparable, Hashable {
    /// Nanoseconds since the clock's start.
    public var nanoseconds: UInt64

    /// Creates a point in time from a clock reading.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Reads the clock. On the loop thread `EventLoop.now` is cheaper.
    public static func now() -> MonotonicInstant {
        MonotonicInstant(nanoseconds: clibuv_monotonic_ns())
    }

    /// Compares by time: earlier is less.
    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the time `duration` later; stops at the clock's ends instead of overflowing.
    public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        let delta = duration.clampedNanoseconds
        let (sum, overflow) =
            delta < 0
            ? instant.nanoseconds.subtractingReportingOverflow(delta.magnitude)
            : instant.nanoseconds.addingReportingOverflow(delta.magnitude)
        return MonotonicInstant(nanoseconds: overflow ? (delta < 0 ? 0 : .max) : sum)
    }

    /// Returns the time `duration` earlier; stops at the clock's ends instead of overflowing.
    public static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        let delta = duration.clampedNanoseconds
        return instant + .nanoseconds(delta == .min ? .max : -delta)
    }

    /// Returns the time from `right` to `left`; negative if `left` is earlier.
    public static func - (left: MonotonicInstant, right: MonotonicInstant) -> Duration {
        left >= right
            ? .nanoseconds(Int64(clamping: left.nanoseconds - right.nanoseconds))
            : .nanoseconds(-Int64(clamping: right.nanoseconds - left.nanoseconds))
    }
}

extension Duration {
    /// The duration in nanoseconds, at most ±292 years.
    var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}
