/// The properties derived from a context, computed once for all cookies that are compared with it.
public struct CookieScope: Sendable {
    /// The host.
    public let host: Host
    /// The registrable domain of the host; `nil` for addresses and public suffixes.
    public let registrableDomain: Host?
    /// The path of the URL.
    public let path: String
    /// Whether the connection is secure.
    public let isSecure: Bool
    /// Whether this is a request, and not a script.
    public let isHTTP: Bool
    /// The partition of the context.
    public let partition: String
    /// Whether cookies with `Lax`, or without the attribute, are sent.
    public let allowsLax: Bool
    /// Whether cookies with `Strict` are sent.
    public let allowsStrict: Bool
    /// Whether cookies with `Lax`, `Strict` or without the attribute may be set.
    public let allowsSameSiteToBeSet: Bool
    /// The domains whose cookies the host may set and receives: itself and the names above it up to the registrable
    /// domain. Empty for addresses and public suffixes. A domain that was no public suffix when a cookie was set may be
    /// one now, and is then not included (section 5.8.3).
    let domains: [Host]

    /// Creates the scope of a context.
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
        domains = Self.domains(of: host, from: registrableDomain)
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

    /// Returns the host and the names above it up to the registrable domain, longest first; empty if there is none.
    private static func domains(of host: Host, from registrableDomain: Host?) -> [Host] {
        guard let registrableDomain else { return [] }
        var domains = [host]
        var rest = host.text[...]
        while rest.utf8.count > registrableDomain.text.utf8.count, let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            domains.append(Host(checkedName: String(rest)))
        }
        return domains
    }
}
