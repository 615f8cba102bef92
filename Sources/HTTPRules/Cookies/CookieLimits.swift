/// How many cookies a store holds, and which go first.
public struct CookieLimits: Hashable, Sendable {
    /// The most cookies of a registrable domain, as in browsers.
    public var domainCookies: Int
    /// The most cookies of a store, as in browsers.
    public var allCookies: Int

    /// 180 of a registrable domain, 3,300 in all.
    public static let standard = CookieLimits(domainCookies: 180, allCookies: 3300)

    /// Limits.
    ///
    /// - Parameters:
    ///   - domainCookies: The most of a registrable domain.
    ///   - allCookies: The most in all.
    public init(domainCookies: Int, allCookies: Int) {
        self.domainCookies = domainCookies
        self.allCookies = allCookies
    }

    /// Whether a cookie goes before another, where neither has ended: those that are not pinned, then insecure ones,
    /// then those that were used least recently. That is the order of draft-ietf-httpbis-rfc6265bis-22, section 5.7,
    /// within a domain; where there are too many in all, it is ours that insecure ones go first.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - other: The other.
    /// - Returns: nil where the one is as good as the other; then the one that was stored first goes first.
    public static func goes(_ cookie: Cookie, before other: Cookie) -> Bool? {
        if cookie.pin != other.pin { return other.pin }
        if cookie.secure != other.secure { return other.secure }
        if cookie.accessed != other.accessed { return cookie.accessed < other.accessed }
        return cookie.created == other.created ? nil : cookie.created < other.created
    }
}
