import BridgeJSON

/// A moment on a clock that never goes backwards.
public struct RuntimeInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since a point that stays the same while the process runs.
    public var nanoseconds: UInt64

    /// The moment this many nanoseconds after the clock's zero.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The end of time: no deadline.
    static let never = RuntimeInstant(nanoseconds: .max)

    /// Whether the first moment is the earlier one.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment `duration` later; the end of time where there is no such moment.
    public func advanced(by duration: Duration) -> RuntimeInstant {
        advanced(byNanoseconds: duration.wholeNanoseconds)
    }

    /// The same, without a `Duration`, whose parts cost divisions of 128 bits.
    func advanced(byNanoseconds nanoseconds: UInt64) -> RuntimeInstant {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return RuntimeInstant(nanoseconds: overflow ? .max : sum)
    }

    /// How long it is from `earlier` to this moment; zero where it is not earlier.
    public func since(_ earlier: RuntimeInstant) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0))
    }
}

extension Duration {
    /// Whole nanoseconds, from zero to 292 years.
    public var wholeNanoseconds: UInt64 { UInt64(max(0, clampedNanoseconds)) }

    /// Whole milliseconds, for messages and statistics.
    public var wholeMilliseconds: Int64 { Int64(wholeNanoseconds / 1_000_000) }
}

/// Time, as the runtime needs it: what it is, and being woken. The daemon's loop in service, a fake in tests.
public protocol RuntimeClock: AnyObject {
    /// The present.
    var now: RuntimeInstant { get }
    /// From now on ``TaskRuntime/expire()`` is to be called once, at this moment or soon after; nil: not at all. Each
    /// call replaces the one before.
    func wake(at moment: RuntimeInstant?)
}
