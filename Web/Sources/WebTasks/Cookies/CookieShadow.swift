public import WebKitViews

/// The common state of a jar and the daemon's profile, as a state machine. The changes of each side are its difference
/// to this state.
public struct CookieShadow: Sendable {
    /// A change of the daemon.
    public struct Change: Sendable, Hashable {
        /// The cookie; `nil` if it was removed.
        public var cookie: WebCookie?
        /// The version of the profile.
        public var version: UInt64

        /// Creates a change.
        ///
        /// - Parameters:
        ///   - cookie: The cookie; `nil` if it was removed.
        ///   - version: The version of the profile.
        public init(cookie: WebCookie?, version: UInt64) {
            self.cookie = cookie
            self.version = version
        }
    }

    /// A change of the jar.
    public struct Difference: Sendable, Hashable {
        /// The cookie's key.
        public var key: WebCookie.Key
        /// The cookie; `nil` if it was removed.
        public var cookie: WebCookie?
        /// The version that was known; 0 for none.
        public var base: UInt64
    }

    /// The cookie as the jar stores it, and the version of the profile at that moment.
    private struct Entry: Sendable {
        var cookie: WebCookie
        var version: UInt64
    }

    private var entries: [WebCookie.Key: Entry] = [:]

    /// Creates an empty state.
    public init() {}

    /// The keys of the known cookies.
    public var keys: [WebCookie.Key] { Array(entries.keys) }

    /// Whether a change of the daemon is already known, because an answer contained it.
    ///
    /// - Parameters:
    ///   - key: The cookie's key.
    ///   - change: The change.
    public func knows(_ key: WebCookie.Key, _ change: Change) -> Bool {
        entries[key].map { $0.version >= change.version } ?? false
    }

    /// Notes that a change of the daemon was applied to the jar.
    ///
    /// - Parameters:
    ///   - key: The cookie's key.
    ///   - change: The change.
    ///   - found: The jar's cookie now; `nil` if the jar does not accept the cookie.
    public mutating func took(_ key: WebCookie.Key, _ change: Change, found: WebCookie?) {
        guard let wanted = change.cookie, let found else { return entries[key] = nil }
        // Another value is a later change of the jar's own.
        entries[key] = Entry(cookie: found.value == wanted.value ? found : wanted, version: change.version)
    }

    /// Returns the changes in the jar.
    ///
    /// - Parameter jar: The cookies in the jar.
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

    /// Notes that the daemon has accepted a change of the jar.
    ///
    /// - Parameters:
    ///   - difference: The change.
    ///   - version: The version of the profile since then.
    public mutating func sent(_ difference: Difference, version: UInt64) {
        entries[difference.key] = difference.cookie.map { Entry(cookie: $0, version: version) }
    }
}
