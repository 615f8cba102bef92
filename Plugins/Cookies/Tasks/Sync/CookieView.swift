import HTTPRules
import TaskKit

/// The part of a profile that is visible to a client.
enum CookieView: Sendable {
    /// A program of the user: all cookies, and the values of HttpOnly cookies if it has the permission.
    case local(showsSecrets: Bool)
    /// A page: the cookies that a script of its origin can read, for any path.
    case page(CookiePage)

    /// Whether values of HttpOnly cookies are shown.
    var showsSecrets: Bool { if case .local(true) = self { true } else { false } }

    /// Returns whether a cookie is visible.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - now: The current time.
    func shows(_ cookie: Cookie, at now: UnixTime) -> Bool {
        if case .page(let page) = self { page.sees(cookie, at: now) } else { !cookie.isExpired(at: now) }
    }

    /// Returns the change as JSON; `nil` if it is not visible in this view.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - now: The current time.
    func json(_ change: CookieChange, at now: UnixTime) -> JSON? {
        var object = JSONObject()
        switch change.kind {
        case .set(let cookie):
            guard shows(cookie, at: now) else { return nil }
            object["change"] = "set"
            object["cookie"] = cookie.json(showsSecrets: showsSecrets)
        case .removed(let key, let cause):
            if case .page(let page) = self, change.httpOnly || !page.sees(key, at: now) { return nil }
            object["change"] = "removed"
            object["key"] = key.json
            object["cause"] = .string(cause.rawValue)
        }
        object["version"] = .number(JSONNumber(change.version))
        return .object(object)
    }
}

/// The properties of a page that determine its cookies.
struct CookiePage: Sendable {
    let origin: WebOrigin
    private let suffixes: PublicSuffixList
    private let trustsLoopback: Bool
    private let scope: CookieScope?

    init(origin: WebOrigin, suffixes: PublicSuffixList, trustsLoopback: Bool) {
        self.origin = origin
        self.suffixes = suffixes
        self.trustsLoopback = trustsLoopback
        let root = try? WebURL(origin.text + "/")
        scope = root.map { url in
            CookieScope(
                Self.context(url, suffixes, trustsLoopback: trustsLoopback), suffixes: suffixes)
        }
    }

    /// Returns the context of a script in a document of this page.
    func context(of url: WebURL) -> CookieContext {
        Self.context(url, suffixes, trustsLoopback: trustsLoopback)
    }

    private static func context(
        _ url: WebURL, _ suffixes: PublicSuffixList, trustsLoopback: Bool
    ) -> CookieContext {
        let site = suffixes.site(of: url.origin)
        var context = CookieContext(url: url, initiator: .site(site), topLevelSite: site)
        context.isHTTP = false
        context.trustsLoopback = trustsLoopback
        return context
    }

    /// Returns whether a script of the page can read the cookie, if its URL is within the cookie's path.
    func sees(_ cookie: Cookie, at now: UnixTime) -> Bool {
        guard let scope else { return false }
        var cookie = cookie
        cookie.path = "/"
        return CookieMatch.goes(cookie, to: scope, at: now)
    }

    /// Returns whether the page can read a cookie with this key and without attributes.
    func sees(_ key: Cookie.Key, at now: UnixTime) -> Bool {
        var cookie = Cookie(
            name: key.name, value: [], host: key.host, hostOnly: key.hostOnly, path: key.path, created: now)
        cookie.partition = key.partition
        return sees(cookie, at: now)
    }
}
