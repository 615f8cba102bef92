import Glibc
import HTTPRules

/// The system's wall clock.
enum WallClock {
    static var now: UnixTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(seconds: Int64(time.tv_sec))
    }
}
