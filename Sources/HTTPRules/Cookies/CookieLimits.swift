/// The maximum numbers of cookies in a store, and the order of eviction.
public struct CookieLimits: Hashable, Sendable {
    /// The maximum number of cookies of a registrable domain, as in browsers.
    public var domainCookies: Int
    /// The maximum number of cookies of a store, as in browsers.
    public var allCookies: Int

    /// The standard limits: 180 for a registrable domain, 3,300 in total.
    public static let standard = CookieLimits(domainCookies: 180, allCookies: 3300)

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - domainCookies: The maximum for a registrable domain.
    ///   - allCookies: The maximum in total.
    public init(domainCookies: Int, allCookies: Int) {
        self.domainCookies = domainCookies
        self.allCookies = allCookies
    }

    /// Returns whether a cookie is evicted before another, if neither has expired: cookies that are not pinned first,
    /// then insecure ones, then the least recently used. This is the order of draft-ietf-httpbis-rfc6265bis-22, section
    /// 5.7, within a domain. If there are too many in total, evicting insecure ones first is a rule of this module.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - other: The other cookie.
    /// - Returns: Whether it is evicted first; `nil` if both are equal, in which case the one that was stored first is
    ///   evicted.
    public static func goes(_ cookie: Cookie, before other: Cookie) -> Bool? {
        if cookie.pin != other.pin { return other.pin }
        if cookie.secure != other.secure { return other.secure }
        if cookie.accessed != other.accessed { return cookie.accessed < other.accessed }
        return cookie.created == other.created ? nil : cookie.created < other.created
    }
}
