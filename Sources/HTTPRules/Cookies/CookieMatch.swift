/// The rules that decide which cookies are sent with a request.
public enum CookieMatch {
    /// Returns whether a host is a cookie's domain or a name below it (draft-ietf-httpbis-rfc6265bis-22, section
    /// 5.1.3).
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - domain: The domain.
    public static func domainMatches(_ host: Host, _ domain: Host) -> Bool { host == domain || host.isBelow(domain) }

    /// Returns whether a request's path is a cookie's path or below it (section 5.1.4).
    ///
    /// - Parameters:
    ///   - path: The path of the request.
    ///   - cookiePath: The path of the cookie.
    public static func pathMatches(_ path: String, _ cookiePath: String) -> Bool {
        // No two scalars up to U+00FF form one character, so texts compare as their bytes do.
        guard path.hasPrefix(cookiePath) else { return false }
        if path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/") { return true }
        return path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }

    /// Returns the path of a cookie that specifies none: the URL's path up to its last slash (section 5.1.4).
    ///
    /// - Parameter path: The path of the URL.
    public static func defaultPath(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Returns whether a cookie is sent with a request, or visible to a script (section 5.8.3).
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - scope: The request's or the script's scope.
    ///   - now: The time.
    public static func goes(_ cookie: Cookie, to scope: CookieScope, at now: UnixTime) -> Bool {
        (!cookie.secure || scope.isSecure)
            && (!cookie.httpOnly || scope.isHTTP)
            && siteMatches(cookie.sameSite, scope)
            && !cookie.isExpired(at: now)
            && pathMatches(scope.path, cookie.path)
            && hostMatches(cookie, scope)
            && (cookie.partition.isEmpty || cookie.partition == scope.partition)
    }

    private static func hostMatches(_ cookie: Cookie, _ scope: CookieScope) -> Bool {
        cookie.hostOnly ? cookie.host == scope.host : scope.domains.contains(cookie.host)
    }

    private static func siteMatches(_ sameSite: SameSite, _ scope: CookieScope) -> Bool {
        switch sameSite {
        case .none: true
        case .unset, .lax: scope.allowsLax
        case .strict: scope.allowsStrict
        }
    }

    /// The place of a cookie in the header: longer paths first, then cookies that were set earlier (section 5.8.3),
    /// then cookies that were stored earlier.
    public struct Place: Comparable, Sendable {
        private let pathBytes: Int
        private let created: UnixTime
        private let order: UInt64

        /// Creates the place of a cookie.
        ///
        /// - Parameters:
        ///   - cookie: The cookie.
        ///   - order: A number that is greater for cookies that were stored later.
        public init(_ cookie: Cookie, order: UInt64) {
            pathBytes = cookie.path.utf8.count
            created = cookie.created
            self.order = order
        }

        /// Returns whether a place comes before another.
        ///
        /// - Parameters:
        ///   - one: The first place.
        ///   - other: The second place.
        public static func < (one: Place, other: Place) -> Bool {
            if one.pathBytes != other.pathBytes { return one.pathBytes > other.pathBytes }
            return one.created == other.created ? one.order < other.order : one.created < other.created
        }
    }

    /// Returns the value of the header `Cookie` (section 5.8.3, step 6).
    ///
    /// - Parameter cookies: The cookies, in order.
    /// - Returns: The bytes; empty if there are no cookies, in which case no header is sent.
    public static func header(_ cookies: some Sequence<Cookie>) -> [UInt8] {
        var header: [UInt8] = []
        for cookie in cookies {
            if !header.isEmpty { header += "; ".utf8 }
            if !cookie.name.isEmpty {
                header += cookie.name
                header.append(UInt8(ascii: "="))
            }
            header += cookie.value
        }
        return header
    }
}
