public import WebKitViews

/// What a jar and the daemon's profile have in common, as a state machine: what each has changed since is the
/// difference to it.
public struct CookieShadow: Sendable {
    /// A change of the daemon's.
    public struct Change: Sendable, Hashable {
        /// The cookie; nil: it is gone.
        public var cookie: WebCookie?
        /// The version of the profile.
        public var version: UInt64

        /// A change.
        ///
        /// - Parameters:
        ///   - cookie: The cookie; nil: it is gone.
        ///   - version: The version of the profile.
        public init(cookie: WebCookie?, version: UInt64) {
            self.cookie = cookie
            self.version = version
        }
    }

    /// A change of the jar's.
    public struct Difference: Sendable, Hashable {
        /// Whose.
        public var key: WebCookie.Key
        /// The cookie; nil: it is gone.
        public var cookie: WebCookie?
        /// The version that was known; 0: none.
        public var base: UInt64
    }

    /// What the jar has made of a cookie, and the version that the profile had then.
    private struct Entry: Sendable {
        var cookie: WebCookie
        var version: UInt64
    }

    private var entries: [WebCookie.Key: Entry] = [:]

    /// Nothing is known.
    public init() {}

    /// The cookies that are known.
    public var keys: [WebCookie.Key] { Array(entries.keys) }

    /// Whether a change of the daemon's is one that is known: its answer had it already.
    ///
    /// - Parameters:
    ///   - key: The cookie's key.
    ///   - change: The change.
    public func knows(_ key: WebCookie.Key, _ change: Change) -> Bool {
        entries[key].map { $0.version >= change.version } ?? false
    }

    /// A change of the daemon's was made in the jar.
    ///
    /// - Parameters:
    ///   - key: The cookie's key.
    ///   - change: The change.
    ///   - found: What the jar has now; nil: nothing, so that it does not take the cookie.
    public mutating func took(_ key: WebCookie.Key, _ change: Change, found: WebCookie?) {
        guard let wanted = change.cookie, let found else { return entries[key] = nil }
        // Another value is the jar's own change, which came behind this one.
        entries[key] = Entry(cookie: found.value == wanted.value ? found : wanted, version: change.version)
    }

    /// What has changed in the jar.
    ///
    /// - Parameter jar: What it has.
    public func differences(of jar: [WebCookie.Key: WebCookie]) -> [Difference] {
        var differences: [Difference] = []
        for (key, cookie) in jar where entries[key]?.cookie != cookie {
            differences.append(Difference(key: key, cookie: cookie, base: entries[key]?.version ?? 0))
        }
        for (key, entry) in entries where jar[key] == nil {
            differences.append(Difference(key: key, cookie: nil, base: entry.version))
        }
        return differences
    }

    /// The daemon has taken a change of the jar's.
    ///
    /// - Parameters:
    ///   - difference: The change.
    ///   - version: The version of the profile since then.
    public mutating func sent(_ difference: Difference, version: UInt64) {
        entries[difference.key] = difference.cookie.map { Entry(cookie: $0, version: version) }
    }
}
