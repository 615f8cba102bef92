/// The properties of a request, or of a script's access, that determine its cookies.
public struct CookieContext: Sendable {
    /// The initiator of the request ("site for cookies", draft-ietf-httpbis-rfc6265bis-22, section 5.2).
    public enum Initiator: Hashable, Sendable {
        /// The user, or a program on its own behalf: every cookie may be sent.
        case user
        /// A page of this site, whose embedding pages are all of this site.
        case site(Site)
        /// A page embedded in pages of other sites, or a page without a site. It matches no site.
        case opaque
    }

    /// The URL of the request; for a script, the URL of its page.
    public var url: WebURL
    /// The initiator of the request.
    public var initiator: Initiator
    /// The top-level site, under which `Partitioned` cookies are stored; `nil` for the site of the URL.
    public var topLevelSite: Site?
    /// The method of the request.
    public var method = "GET"
    /// Whether the response becomes the top-level page.
    public var isNavigation = false
    /// Whether this is a request and not a script. HttpOnly cookies are hidden from scripts.
    public var isHTTP = true
    /// Whether the local machine's addresses count as secure connections.
    public var trustsLoopback = true

    /// Creates the context of a request of the user, or of the given initiator.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - initiator: The initiator of the request.
    ///   - topLevelSite: The top-level site; `nil` for the site of the URL.
    public init(url: WebURL, initiator: Initiator = .user, topLevelSite: Site? = nil) {
        self.url = url
        self.initiator = initiator
        self.topLevelSite = topLevelSite
    }

    /// Whether the method is safe (RFC 9110, section 9.2.1).
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

    /// Whether the URL is secure: https, or the local machine if that is trusted.
    var isSecure: Bool {
        if url.scheme == .https { return true }
        return trustsLoopback && (url.host.isLocalhost || url.host.address?.addressClass == .loopback)
    }
}
