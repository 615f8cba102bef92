import HTTPRules
import TaskKit

/// How far a request leads away from the page that makes it.
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

/// The way of a page's request from redirect to redirect.
struct PageTrail: Sendable {
    /// The farthest that a request on the way has led.
    private(set) var relation = SiteRelation.sameOrigin
    /// Another origin than the page's has redirected to a third one: the page is no longer named.
    private(set) var isTainted = false
    private var last: WebOrigin?

    /// The next request goes to an origin. The page is nil where it has no origin of the web.
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

/// Names the page that makes a request, truthfully, by the fields that servers defend themselves with: `Origin`,
/// `Referer`, `Sec-Fetch-…`. Of a page nothing but its origin is known. Requests of local sessions are left as they
/// are.
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
        // As with the policy strict-origin.
        if let page, page.scheme == .http || hop.url.scheme == .https { fields.append(("Referer", page.text + "/")) }
        // Fetch Metadata, "set the Sec-Fetch-…": for URLs that nobody on the way can read.
        if hop.url.scheme == .https || hop.url.host.isLocalhost || hop.url.host.address?.addressClass == .loopback {
            fields += [
                ("Sec-Fetch-Site", trail.relation.name), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty"),
            ]
        }
        return fields
    }
}
