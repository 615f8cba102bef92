import BridgeJSON

/// A moment on a clock that never goes backwards.
public struct RuntimeInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since a point that stays the same while the process runs.
    public var nanoseconds: UInt64

    /// Creates the moment that is this many nanoseconds after the clock's zero.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The latest moment; as a deadline: no deadline.
    static let never = RuntimeInstant(nanoseconds: .max)

    /// Whether the left moment is the earlier one.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the moment `duration` later, or the latest moment if the sum overflows.
    public func advanced(by duration: Duration) -> RuntimeInstant {
        advanced(byNanoseconds: duration.wholeNanoseconds)
    }

    /// Does the same without a `Duration`, whose parts require 128-bit divisions.
    func advanced(byNanoseconds nanoseconds: UInt64) -> RuntimeInstant {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return RuntimeInstant(nanoseconds: overflow ? .max : sum)
    }

    /// Returns the time from `earlier` to this moment; zero if `earlier` is not earlier.
    public func since(_ earlier: RuntimeInstant) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0))
    }
}

extension Duration {
    /// The whole nanoseconds, from zero to 292 years.
    public var wholeNanoseconds: UInt64 { UInt64(max(0, clampedNanoseconds)) }

    /// The whole milliseconds, for messages and statistics.
    public var wholeMilliseconds: Int64 { Int64(wholeNanoseconds / 1_000_000) }
}

/// A clock that the runtime reads and that wakes it. The daemon uses its loop, tests use a fake.
public protocol RuntimeClock: AnyObject {
    /// The current moment.
    var now: RuntimeInstant { get }
    /// Requests one call of ``TaskRuntime/expire()`` at this moment or soon after; `nil` cancels the request. Each call
    /// replaces the previous request.
    func wake(at moment: RuntimeInstant?)
}
