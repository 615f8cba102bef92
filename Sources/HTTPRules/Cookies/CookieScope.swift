/// A context, worked out once for all cookies that are compared with it.
public struct CookieScope: Sendable {
    /// The host.
    public let host: Host
    /// The registrable domain of the host; nil of addresses and public suffixes.
    public let registrableDomain: Host?
    /// The path of the URL.
    public let path: String
    /// Whether the connection is secure.
    public let isSecure: Bool
    /// Whether this is a request, and not a script.
    public let isHTTP: Bool
    /// The partition that the context has.
    public let partition: String
    /// Whether cookies go along that say `Lax`, or nothing.
    public let allowsLax: Bool
    /// Whether cookies go along that say `Strict`.
    public let allowsStrict: Bool
    /// Whether cookies may be set that say `Lax`, `Strict` or nothing.
    public let allowsSameSiteToBeSet: Bool
    /// Whether the host is itself a public suffix.
    let isPublicSuffix: Bool

    /// The scope of a context.
    ///
    /// - Parameters:
    ///   - context: The context.
    ///   - suffixes: The list of public suffixes.
    public init(_ context: CookieContext, suffixes: PublicSuffixList) {
        host = context.url.host
        registrableDomain = suffixes.registrableDomain(of: host)
        path = context.url.path
        isSecure = context.isSecure
        isHTTP = context.isHTTP
        isPublicSuffix = host.isName && registrableDomain == nil
        let site = Site(scheme: context.url.scheme, host: registrableDomain ?? host)
        partition = (context.topLevelSite ?? site).text
        let isSameSite =
            switch context.initiator {
            case .user: true
            case .site(let initiator): initiator == site
            case .opaque: false
            }
        let isNavigation = context.isHTTP && context.isNavigation
        allowsStrict = isSameSite
        allowsLax = isSameSite || (isNavigation && context.isSafe)
        allowsSameSiteToBeSet = isSameSite || isNavigation
    }

    /// Whether cookies of a domain above the host may be: the domain is the registrable one or below it. Domains that
    /// were no public suffix when the cookie was set may be one now (section 5.8.3).
    ///
    /// - Parameter domain: The domain; the host is it or below it.
    func isNarrowEnough(_ domain: Host) -> Bool {
        guard let registrableDomain else { return false }
        return domain.text.utf8.count >= registrableDomain.text.utf8.count
    }
}
