import Glibc

/// A moment, in milliseconds since the beginning of 1970 in UTC, like JavaScript's `Date`.
struct WallTime: Sendable, Hashable, Comparable {
    let milliseconds: Int64

    /// Returns the time of the system clock.
    static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    static func + (time: WallTime, duration: Duration) -> WallTime {
        let (seconds, attoseconds) = duration.components
        return WallTime(milliseconds: time.milliseconds + seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
