import EventLoop
import Glibc

/// The process's limit of descriptors. Every session takes one, and the default soft limit (1,024, because of
/// select(2), which is not used here) is far below the configured number of sessions.
enum DescriptorLimit {
    /// The number of descriptors that the daemon and its plugins need besides sessions, including the 32 that the
    /// listener keeps free.
    static let reserve = 100

    /// The hard limit, up to which the soft limit can be raised.
    static var hard: Int {
        var limit = rlimit()
        // Cannot fail: the resource exists and the address is valid.
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }

    /// Raises the soft limit to the hard one.
    ///
    /// - Returns: The new limit.
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

    /// Returns a warning if the limit is too low for this number of sessions, otherwise `nil`.
    static func warning(limit: Int, sessions: Int) -> String? {
        guard limit < sessions + reserve else { return nil }
        return """
            the process may have \(limit) descriptors, which is enough for \(max(0, limit - reserve)) sessions, and \
            limits.sessions is \(sessions): raise the hard limit (LimitNOFILE=, ulimit -Hn) to \(sessions + reserve), \
            or lower the setting
            """
    }
}
