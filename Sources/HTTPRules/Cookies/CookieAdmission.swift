/// Whether a cookie is stored (draft-ietf-httpbis-rfc6265bis-22, section 5.7; its prefixes after
/// draft-ietf-httpbis-layered-cookies, section 5.4.3).
public enum CookieAdmission {
    /// The cookie that a line makes.
    ///
    /// - Parameters:
    ///   - line: What the line says.
    ///   - scope: The scope of the answer that has it, or of the script.
    ///   - now: The time.
    ///   - neighbours: The stored cookies of the same registrable domain that have not ended. Those of a public suffix
    ///     above it are none of them: nothing below hides them, and their owner may not keep cookies from others.
    /// - Returns: The cookie. Where it has ended already, it only removes the stored one of its key.
    /// - Throws: The reason, where it is not taken.
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
        // No line could say a longer one: the cookie could not be handed on.
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

    /// The host of the cookie (steps 7 to 10). A public suffix may set cookies for itself alone, as may an address.
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

    /// What the connection and the request's site allow (steps 13, 15 and 18).
    private static func checkConnection(_ cookie: Cookie, in scope: CookieScope) throws(CookieRefusal) {
        if cookie.secure, !scope.isSecure { throw CookieRefusal(.secure) }
        if cookie.httpOnly, !scope.isHTTP { throw CookieRefusal(.httpOnly) }
        if cookie.sameSite != .none, !scope.allowsSameSiteToBeSet { throw CookieRefusal(.sameSite) }
    }

    /// What a cookie's attributes must be to each other (steps 19 to 22).
    private static func checkAttributes(
        _ cookie: Cookie, hasPath: Bool, partitioned: Bool
    ) throws(CookieRefusal) {
        if cookie.sameSite == .none, !cookie.secure { throw CookieRefusal(.secure) }
        if partitioned, !cookie.secure { throw CookieRefusal(.secure) }
        guard CookiePrefix.keepsPromise(cookie, hasPath: hasPath) else { throw CookieRefusal(.prefix) }
    }

    /// What a stored cookie forbids: an insecure one would hide a Secure one (step 16), a script would replace one that
    /// it does not see (step 23).
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
    /// The most bytes of a path, so that a line can say it.
    public static let maximumPathBytes = SetCookie.maximumAttributeBytes

    /// Whether a cookie that no line made, such as one of a file, could have been made by a line.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - suffixes: The list of public suffixes.
    ///   - now: The time.
    /// - Returns: The cookie, its end cut to 400 days.
    /// - Throws: The reason, where it could not.
    public static func check(
        _ cookie: Cookie, suffixes: PublicSuffixList, at now: UnixTime
    ) throws(CookieRefusal) -> Cookie {
        try checkPair(cookie)
        try checkPath(cookie)
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
