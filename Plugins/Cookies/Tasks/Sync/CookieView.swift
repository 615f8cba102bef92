import HTTPRules
import TaskKit

/// What somebody sees of a profile.
enum CookieView: Sendable {
    /// A program of the user: all cookies, and the values of HttpOnly ones where it has the permission.
    case local(showsSecrets: Bool)
    /// A page: what a script of its origin would see, in whatever path.
    case page(CookiePage)

    /// Whether values of HttpOnly cookies are shown.
    var showsSecrets: Bool { if case .local(true) = self { true } else { false } }

    /// Whether a cookie is seen.
    ///
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - now: The time.
    func shows(_ cookie: Cookie, at now: UnixTime) -> Bool {
        if case .page(let page) = self { page.sees(cookie, at: now) } else { !cookie.isExpired(at: now) }
    }

    /// The change as this one sees it; nil: it is none to it.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - now: The time.
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

/// A page, as far as its cookies depend on it.
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

    /// The context of a script in a document of this page.
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

    /// Whether a script of the page would see the cookie, in the path of the cookie.
    func sees(_ cookie: Cookie, at now: UnixTime) -> Bool {
        guard let scope else { return false }
        var cookie = cookie
        cookie.path = "/"
        return CookieMatch.goes(cookie, to: scope, at: now)
    }

    /// Whether the page would see a cookie of this key that has no attributes.
    func sees(_ key: Cookie.Key, at now: UnixTime) -> Bool {
        var cookie = Cookie(
            name: key.name, value: [], host: key.host, hostOnly: key.hostOnly, path: key.path, created: now)
        cookie.partition = key.partition
        return sees(cookie, at: now)
    }
}
