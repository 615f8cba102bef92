import Glibc
import HTTPRules

/// What the store goes by. The defaults are those of an empty configuration.
struct CookieSettings: Sendable {
    /// How long cookies of a session stay after the profile's last container has gone.
    var sessionLinger = Duration.seconds(600)
    /// Whether this machine's own addresses are as good as a secure connection.
    var secureLocalhost = true
    /// The file of a newer list of public suffixes; nil: the system's.
    var publicSuffixFile: String?
    /// Profiles of a uid, those in memory included.
    var uidProfiles = 16
    /// Bytes of the names, values and paths of a uid's cookies.
    var uidBytes = 16 << 20

    /// More than a user needs.
    static let maximumProfiles = 1024
    /// A day.
    static let maximumLinger = 86_400
    /// What a machine with many pages holds.
    static let maximumBytes = 1 << 30
}

/// The clocks of the store.
struct CookieClocks: Sendable {
    /// The time of cookies.
    var wall: @Sendable () -> UnixTime = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(seconds: Int64(time.tv_sec))
    }

    /// For what must not follow a clock that is being set: the time since some moment in the past.
    var monotonic: @Sendable () -> Duration = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The name of this boot of the machine; empty where the system says none.
    var boot: @Sendable () -> String = {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 32 }, as: UTF8.self)
    }
}
