/// The rules that decide whether a cookie is stored (draft-ietf-httpbis-rfc6265bis-22, section 5.7; its prefixes from
/// draft-ietf-httpbis-layered-cookies, section 5.4.3).
public enum CookieAdmission {
    /// Returns the cookie that a line sets.
    ///
    /// - Parameters:
    ///   - line: The parsed line.
    ///   - scope: The scope of the response that contains the line, or of the script.
    ///   - now: The time.
    ///   - neighbours: The stored cookies of the same registrable domain that have not expired. They exclude the
    ///     cookies of a public suffix above that domain: cookies below the suffix do not hide them, and the owner of
    ///     the suffix must not block other cookies.
    /// - Returns: The cookie. If it has already expired, it only removes the stored cookie of its key.
    /// - Throws: The reason, if it is refused.
    public static func admit(
        _ line: SetCookie, in scope: CookieScope, at now: UnixTime, beside neighbours: some Sequence<Cookie>
    ) throws(CookieRefusal) -> Cookie {
        let cookie = try cookie(of: line, in: scope, at: now)
        try checkConnection(cookie, in: scope)
        try checkAttributes(cookie, hasPath: line.path != nil, partitioned: line.partitioned)
        for neighbour in neighbours { try check(cookie, beside: neighbour, in: scope) }
        return cookie
    }

    private static func cookie(
        of line: SetCookie, in scope: CookieScope, at now: UnixTime
    ) throws(CookieRefusal) -> Cookie {
        let (host, hostOnly) = try host(of: line, in: scope)
        let path = line.path ?? CookieMatch.defaultPath(of: scope.path)
        // A line could not contain a longer path, so the cookie could not be passed on.
        guard line.path != nil || path.utf8.count <= maximumPathBytes else { throw CookieRefusal(.tooLarge) }
        var cookie = Cookie(
            name: line.name, value: line.value, host: host, hostOnly: hostOnly, path: path, created: now)
        cookie.partition = line.partitioned ? scope.partition : ""
        cookie.expires = line.end(at: now)
        cookie.secure = line.secure
        cookie.httpOnly = line.httpOnly
        cookie.sameSite = line.sameSite
        cookie.sourceSecure = scope.isSecure
        return cookie
    }

    /// Returns the host of the cookie (steps 7 to 10). A public suffix may set cookies only for itself, as may an
    /// address.
    private static func host(
        of line: SetCookie, in scope: CookieScope
    ) throws(CookieRefusal) -> (host: Host, hostOnly: Bool) {
        switch line.domain {
        case .none: return (scope.host, true)
        case .unreadable: throw CookieRefusal(.domain)
        case .host(let domain):
            if domain == scope.host { return (domain, scope.registrableDomain == nil) }
            guard scope.host.isBelow(domain) else { throw CookieRefusal(.domain) }
            guard scope.domains.contains(domain) else { throw CookieRefusal(.publicSuffix) }
            return (domain, false)
        }
    }

    /// Checks what the connection and the site of the request permit (steps 13, 15 and 18).
    private static func checkConnection(_ cookie: Cookie, in scope: CookieScope) throws(CookieRefusal) {
        if cookie.secure, !scope.isSecure { throw CookieRefusal(.secure) }
        if cookie.httpOnly, !scope.isHTTP { throw CookieRefusal(.httpOnly) }
        if cookie.sameSite != .none, !scope.allowsSameSiteToBeSet { throw CookieRefusal(.sameSite) }
    }

    /// Checks that a cookie's attributes are consistent with each other (steps 19 to 22).
    private static func checkAttributes(
        _ cookie: Cookie, hasPath: Bool, partitioned: Bool
    ) throws(CookieRefusal) {
        if cookie.sameSite == .none, !cookie.secure { throw CookieRefusal(.secure) }
        if partitioned, !cookie.secure { throw CookieRefusal(.secure) }
        guard CookiePrefix.keepsPromise(cookie, hasPath: hasPath) else { throw CookieRefusal(.prefix) }
    }

    /// Checks the restrictions of a stored cookie: an insecure cookie must not hide a Secure one (step 16), and a
    /// script must not replace a cookie that is hidden from it (step 23).
    private static func check(
        _ cookie: Cookie, beside stored: Cookie, in scope: CookieScope
    ) throws(CookieRefusal) {
        guard stored.name == cookie.name, stored.partition == cookie.partition else { return }
        if !scope.isHTTP, stored.httpOnly, stored.key == cookie.key { throw CookieRefusal(.httpOnly) }
        guard stored.secure, !cookie.secure, !scope.isSecure else { return }
        let isNear =
            CookieMatch.domainMatches(stored.host, cookie.host) || CookieMatch.domainMatches(cookie.host, stored.host)
        if isNear, CookieMatch.pathMatches(cookie.path, stored.path) { throw CookieRefusal(.secure) }
    }
}

extension CookieAdmission {
    /// The maximum length of a path or a partition in bytes. A line can contain a path of this length.
    public static let maximumPathBytes = SetCookie.maximumAttributeBytes

    /// Checks whether a line could have set a cookie from another source, such as a file.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - suffixes: The list of public suffixes.
    ///   - now: The time.
    /// - Returns: The cookie, with its expiry limited to 400 days.
    /// - Throws: The reason, if no line could have set it.
    public static func check(
        _ cookie: Cookie, suffixes: PublicSuffixList, at now: UnixTime
    ) throws(CookieRefusal) -> Cookie {
        try checkPair(cookie)
        try checkPath(cookie)
        guard cookie.partition.utf8.count <= maximumPathBytes else { throw CookieRefusal(.tooLarge) }
        if !cookie.hostOnly {
            guard cookie.host.isName else { throw CookieRefusal(.domain) }
            if suffixes.isPublicSuffix(cookie.host) { throw CookieRefusal(.publicSuffix) }
        }
        try checkAttributes(cookie, hasPath: true, partitioned: !cookie.partition.isEmpty)
        var cookie = cookie
        cookie.expires = cookie.expires.map { min($0, CookieLifetime.latestEnd(at: now)) }
        return cookie
    }

    private static func checkPair(_ cookie: Cookie) throws(CookieRefusal) {
        try SetCookie.checkSize(name: cookie.name, value: cookie.value)
        let bytes = [cookie.name, cookie.value]
        let isWhole = bytes.allSatisfy { part in
            !CookieBytes.hasControl(part) && !part.contains(UInt8(ascii: ";"))
                && CookieBytes.trimmed(part[...]).count == part.count
        }
        guard isWhole, !cookie.name.contains(UInt8(ascii: "=")) else { throw CookieRefusal(.invalid) }
    }

    private static func checkPath(_ cookie: Cookie) throws(CookieRefusal) {
        guard let path = CookieBytes.bytes(cookie.path), path.first == UInt8(ascii: "/"),
            !CookieBytes.hasControl(path), !path.contains(UInt8(ascii: ";")),
            CookieBytes.trimmed(path[...]).count == path.count
        else { throw CookieRefusal(.invalid) }
        guard path.count <= maximumPathBytes else { throw CookieRefusal(.tooLarge) }
    }
}
