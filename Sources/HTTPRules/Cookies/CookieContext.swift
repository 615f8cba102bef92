/// A request, or a script's question, as far as cookies depend on it.
public struct CookieContext: Sendable {
    /// Who causes the request ("site for cookies", draft-ietf-httpbis-rfc6265bis-22, section 5.2).
    public enum Initiator: Hashable, Sendable {
        /// The user, or a program for itself: every cookie may go along.
        case user
        /// A page of this site, with all pages that it is in.
        case site(Site)
        /// A page inside of pages of other sites, or one without a site: of another site than any.
        case opaque
    }

    /// The URL of the request; for a script that of its page.
    public var url: WebURL
    /// Who causes it.
    public var initiator: Initiator
    /// The site that the user is at, under which `Partitioned` cookies are kept; nil stands for that of the URL.
    public var topLevelSite: Site?
    /// The method of the request.
    public var method = "GET"
    /// Whether the answer becomes the page that the user is at.
    public var isNavigation = false
    /// Whether this is a request, and not a script, to which HttpOnly cookies do not exist.
    public var isHTTP = true
    /// Whether this machine's own addresses are as good as a secure connection.
    public var trustsLoopback = true

    /// The context of a request that the user causes, or with `initiator` a page.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - initiator: Who causes it.
    ///   - topLevelSite: The site that the user is at; nil stands for that of the URL.
    public init(url: WebURL, initiator: Initiator = .user, topLevelSite: Site? = nil) {
        self.url = url
        self.initiator = initiator
        self.topLevelSite = topLevelSite
    }

    /// Whether the method changes nothing (RFC 9110, section 9.2.1).
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

    /// Whether the URL is secure: https, or this machine where that is trusted.
    var isSecure: Bool {
        if url.scheme == .https { return true }
        return trustsLoopback && (url.host.isLocalhost || url.host.address?.addressClass == .loopback)
    }
}
