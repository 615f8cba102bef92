import HTTPRules
import TaskKit

/// The relation of a request's target to the page that makes the request.
enum SiteRelation: Int, Comparable, Sendable {
    case sameOrigin
    case sameSite
    case crossSite

    /// The value of `Sec-Fetch-Site`.
    var name: String {
        switch self {
        case .sameOrigin: "same-origin"
        case .sameSite: "same-site"
        case .crossSite: "cross-site"
        }
    }

    static func < (one: SiteRelation, other: SiteRelation) -> Bool { one.rawValue < other.rawValue }
}

/// The sequence of origins that a page's request visits through redirects.
struct PageTrail: Sendable {
    /// The most distant relation of any request so far.
    private(set) var relation = SiteRelation.sameOrigin
    /// Whether an origin other than the page's has redirected to a third one. The page is then no longer named.
    private(set) var isTainted = false
    private var last: WebOrigin?

    /// Records that the next request goes to an origin. `page` is `nil` if the page has no web origin.
    mutating func step(to origin: WebOrigin, from page: WebOrigin?, _ reach: Reach) {
        if let last, last != origin, last != page { isTainted = true }
        last = origin
        let step: SiteRelation =
            if page == origin { .sameOrigin } else if page.map({ reach.isSameSite($0, origin) }) == true {
                .sameSite
            } else { .crossSite }
        relation = max(relation, step)
    }
}

/// Adds the header fields that identify the requesting page to servers: `Origin`, `Referer`, `Sec-Fetch-…`. Only the
/// origin of a page is known. Requests of local sessions are not changed.
struct PageStage: HopStage {
    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { context.reach.isPage }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        var hop = hop
        for (name, value) in fields(hop, context) {
            guard let field = HeaderField(name: name, value: value) else { continue }
            hop.headers.set(field)
        }
        return try await next.load(hop, context)
    }

    private func fields(_ hop: Hop, _ context: LoadContext) -> [(String, String)] {
        let page = context.reach.pageOrigin
        let trail = context.chain.step(to: hop.url.origin, from: page, context.reach)
        var fields: [(String, String)] = []
        // Fetch, "append a request Origin header": a request without side effects to the page's own origin needs none.
        if trail.relation != .sameOrigin || !["GET", "HEAD"].contains(hop.method) {
            fields.append(("Origin", trail.isTainted ? "null" : page?.text ?? "null"))
        }
        // As with the referrer policy strict-origin.
        if let page, page.scheme == .http || hop.url.scheme == .https { fields.append(("Referer", page.text + "/")) }
        // Fetch Metadata, "set the Sec-Fetch-…": only for potentially trustworthy URLs.
        if hop.url.scheme == .https || hop.url.host.isLocalhost || hop.url.host.address?.addressClass == .loopback {
            fields += [
                ("Sec-Fetch-Site", trail.relation.name), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty"),
            ]
        }
        return fields
    }
}
