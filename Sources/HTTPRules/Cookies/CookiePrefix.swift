/// The guarantees that the prefix of a cookie's name gives to its server (draft-ietf-httpbis-rfc6265bis-22, section
/// 5.4; `__Http-` and `__Host-Http-` from draft-ietf-httpbis-layered-cookies, section 4.1.3).
enum CookiePrefix {
    /// Returns whether a cookie fulfils the guarantees of its name. The prefix is compared without case. A value
    /// without a name must not begin with a prefix, because a server could interpret it as a name.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - hasPath: Whether its path was specified and not derived from the URL.
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
