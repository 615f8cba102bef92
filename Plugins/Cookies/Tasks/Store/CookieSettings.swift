import Glibc
import HTTPRules

/// The settings of the store. The defaults are those of an empty configuration.
struct CookieSettings: Sendable {
    /// The time that session cookies are kept after the profile's last container was detached.
    var sessionLinger = Duration.seconds(600)
    /// Whether connections to this machine's own addresses count as secure.
    var secureLocalhost = true
    /// The file of a newer public suffix list; `nil` for the system's list.
    var publicSuffixFile: String?
    /// The maximum number of profiles of a uid, including those in memory.
    var uidProfiles = 16
    /// The maximum number of bytes of the names, values and paths of a uid's cookies.
    var uidBytes = 16 << 20

    /// The upper limit of ``uidProfiles``, which is more than a user needs.
    static let maximumProfiles = 1024
    /// The upper limit of ``sessionLinger`` in seconds: a day.
    static let maximumLinger = 86_400
    /// The upper limit of ``uidBytes``, which is enough for a machine with many pages.
    static let maximumBytes = 1 << 30
}

/// The clocks of the store.
struct CookieClocks: Sendable {
    /// The clock for the times of cookies.
    var wall: @Sendable () -> UnixTime = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(seconds: Int64(time.tv_sec))
    }

    /// The clock for durations, which is not affected by setting the wall clock.
    var monotonic: @Sendable () -> Duration = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The ID of this boot of the machine; empty if the system provides none.
    var boot: @Sendable () -> String = {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 32 }, as: UTF8.self)
    }
}
