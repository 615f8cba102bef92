import EventLoop
import Glibc

/// How many descriptors the process may have. Every session takes one, and the soft limit that processes start with
/// (1,024, for the sake of select(2), which nothing here uses) is far below what is configured.
enum DescriptorLimit {
    /// What the daemon and its plugins need beside sessions, with the 32 that the listener keeps free.
    static let reserve = 100

    /// What the soft limit can be raised to.
    static var hard: Int {
        var limit = rlimit()
        // Cannot fail: the resource exists and the address is ours.
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }

    /// Raises the soft limit to the hard one.
    ///
    /// - Returns: the limit that now holds.
    static func raise() throws(SystemError) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw SystemError(code: errno, operation: "getrlimit") }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            guard setrlimit(resource, &limit) == 0 else {
                throw SystemError(code: errno, operation: "raise the limit of descriptors")
            }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// A warning where the limit is too low for that many sessions; nil: it is not.
    static func warning(limit: Int, sessions: Int) -> String? {
        guard limit < sessions + reserve else { return nil }
        return """
            the process may have \(limit) descriptors, which is enough for \(max(0, limit - reserve)) sessions, and \
            limits.sessions is \(sessions): raise the hard limit (LimitNOFILE=, ulimit -Hn) to \(sessions + reserve), \
            or lower the setting
            """
    }
}
