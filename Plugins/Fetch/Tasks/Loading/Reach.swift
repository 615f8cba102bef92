import HTTPRules
import TaskKit

/// Where a caller's requests go without a right of their own: a page's to its own site. About all others the policy is
/// asked, see ``InterceptorStage``.
struct Reach: Sendable {
    /// What the session speaks for; nil: a user's own program.
    private let origin: String?
    private let suffixes: PublicSuffixList?

    init(_ caller: Caller, _ suffixes: PublicSuffixList?) {
        origin = caller.origin == "local" ? nil : caller.origin
        self.suffixes = suffixes
    }

    /// Whether the caller is a page.
    var isPage: Bool { origin != nil }
    /// The page's origin; nil: it has none of the web, or the caller is no page.
    var pageOrigin: WebOrigin? { origin.flatMap { try? WebOrigin(international: $0) } }

    /// The text of the page's site; nil: it has none, or the caller is no page.
    var pageSite: String? {
        guard let origin else { return nil }
        guard let page = pageOrigin else { return origin }
        return suffixes?.site(of: page).text ?? page.text
    }

    /// Whether a URL is of the page's own site.
    func isOwnSite(_ url: WebURL) -> Bool { pageOrigin.map { isSameSite($0, url.origin) } ?? false }

    /// Whether two origins are of one site. Without a list, each origin is a site of its own.
    func isSameSite(_ one: WebOrigin, _ other: WebOrigin) -> Bool {
        one == other || suffixes?.isSameSite(one, other) == true
    }
}
