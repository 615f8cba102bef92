internal import CWebKitGTK

/// A cookie as the engine's jar stores it.
public struct WebCookie: Sendable, Hashable {
    /// The key that distinguishes a cookie from others.
    public struct Key: Sendable, Hashable {
        /// The cookie's name.
        public var name: String
        /// The host or the domain, without a leading dot.
        public var host: String
        /// Whether it is sent only to the host.
        public var isHostOnly: Bool
        /// The path.
        public var path: String

        /// Creates a key.
        ///
        /// - Parameters:
        ///   - name: The cookie's name.
        ///   - host: The host or the domain, without a leading dot.
        ///   - isHostOnly: Whether it is sent only to the host.
        ///   - path: The path.
        public init(name: String, host: String, isHostOnly: Bool = true, path: String = "/") {
            self.name = name
            self.host = host
            self.isHostOnly = isHostOnly
            self.path = path
        }
    }

    /// The requests of other sites with which a cookie is sent. The jar has no fourth value for cookies without this
    /// attribute.
    public enum SameSite: String, Sendable {
        case none, lax, strict
    }

    /// The key.
    public var key: Key
    /// Its value.
    public var value: String
    /// The end of its lifetime in seconds since 1970; `nil` for the end of the session.
    public var expires: Int64?
    /// Whether it is sent only over secure connections.
    public var isSecure = false
    /// Whether it is hidden from scripts.
    public var isHTTPOnly = false
    /// The requests of other sites with which it is sent.
    public var sameSite = SameSite.lax

    /// Creates a session cookie.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: Its value.
    public init(_ key: Key, value: String) {
        self.key = key
        self.value = value
    }

    /// Copies a cookie of the engine.
    @MainActor
    init(_ cookie: OpaquePointer) {
        let domain = soup_cookie_get_domain(cookie).map { String(cString: $0) } ?? ""
        let isHostOnly = !domain.hasPrefix(".")
        key = Key(
            name: soup_cookie_get_name(cookie).map { String(cString: $0) } ?? "",
            host: isHostOnly ? domain : String(domain.dropFirst()), isHostOnly: isHostOnly,
            path: soup_cookie_get_path(cookie).map { String(cString: $0) } ?? "/")
        value = soup_cookie_get_value(cookie).map { String(cString: $0) } ?? ""
        expires = soup_cookie_get_expires(cookie).map { Int64(g_date_time_to_unix($0)) }
        isSecure = soup_cookie_get_secure(cookie) != 0
        isHTTPOnly = soup_cookie_get_http_only(cookie) != 0
        switch soup_cookie_get_same_site_policy(cookie) {
        case SOUP_SAME_SITE_POLICY_STRICT: sameSite = .strict
        case SOUP_SAME_SITE_POLICY_NONE: sameSite = .none
        default: sameSite = .lax
        }
    }

    /// Passes an engine cookie to `body`, which is valid while `body` runs.
    @MainActor
    func withMade(_ body: (OpaquePointer) -> Void) {
        let domain = key.isHostOnly ? key.host : ".\(key.host)"
        guard let cookie = soup_cookie_new(key.name, value, domain, key.path, -1) else { return }
        defer { soup_cookie_free(cookie) }
        if let expires, let date = g_date_time_new_from_unix_utc(gint64(expires)) {
            soup_cookie_set_expires(cookie, date)
            g_date_time_unref(date)
        }
        soup_cookie_set_secure(cookie, isSecure ? 1 : 0)
        soup_cookie_set_http_only(cookie, isHTTPOnly ? 1 : 0)
        switch sameSite {
        case .none: soup_cookie_set_same_site_policy(cookie, SOUP_SAME_SITE_POLICY_NONE)
        case .lax: soup_cookie_set_same_site_policy(cookie, SOUP_SAME_SITE_POLICY_LAX)
        case .strict: soup_cookie_set_same_site_policy(cookie, SOUP_SAME_SITE_POLICY_STRICT)
        }
        body(cookie)
    }
}
