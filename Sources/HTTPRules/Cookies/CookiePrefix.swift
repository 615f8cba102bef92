/// What the first characters of a cookie's name promise to its server (draft-ietf-httpbis-rfc6265bis-22, section 5.4;
/// `__Http-` and `__Host-Http-` after draft-ietf-httpbis-layered-cookies, section 4.1.3).
enum CookiePrefix {
    /// Whether a cookie is what its name promises. Case does not count, and a value without a name may not look as if a
    /// name with a promise were there: a server could take it for one.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - hasPath: Whether its path was said, and not taken from the URL.
    static func keepsPromise(_ cookie: Cookie, hasPath: Bool) -> Bool {
        if cookie.name.isEmpty { return !all.contains { AddressBytes.starts(cookie.value, with: $0) } }
        guard cookie.name.starts(with: "__".utf8) else { return true }
        if starts(cookie, secure) { return cookie.secure }
        if starts(cookie, http) { return cookie.secure && cookie.httpOnly }
        guard starts(cookie, host) else { return true }
        let isOfHost = cookie.secure && cookie.hostOnly && hasPath && cookie.path == "/"
        return isOfHost && (cookie.httpOnly || !starts(cookie, hostHTTP))
    }

    private static let secure = "__secure-"
    private static let host = "__host-"
    private static let http = "__http-"
    private static let hostHTTP = "__host-http-"
    private static let all = [secure, host, http]

    private static func starts(_ cookie: Cookie, _ prefix: String) -> Bool {
        AddressBytes.starts(cookie.name, with: prefix)
    }
}
