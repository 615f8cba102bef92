import HTTPRules
import TaskKit

/// The URLs that a caller may request without a further right: a page may request URLs of its own site. The policy
/// decides about all others, see ``InterceptorStage``.
struct Reach: Sendable {
    /// The origin that the session represents; `nil` for a user's own program.
    private let origin: String?
    private let suffixes: PublicSuffixList?

    init(_ caller: Caller, _ suffixes: PublicSuffixList?) {
        origin = caller.origin == "local" ? nil : caller.origin
        self.suffixes = suffixes
    }

    /// Whether the caller is a page.
    var isPage: Bool { origin != nil }
    /// The page's origin; `nil` if the page has no web origin or the caller is not a page.
    var pageOrigin: WebOrigin? { origin.flatMap { try? WebOrigin(international: $0) } }

    /// The text of the page's site, or of its origin if that is not a web origin; `nil` if the caller is not a page.
    var pageSite: String? {
        guard let origin else { return nil }
        guard let page = pageOrigin else { return origin }
        return suffixes?.site(of: page).text ?? page.text
    }

    /// Returns whether a URL belongs to the page's own site.
    func isOwnSite(_ url: WebURL) -> Bool { pageOrigin.map { isSameSite($0, url.origin) } ?? false }

    /// Returns whether two origins belong to one site. Without a list, each origin is a site of its own.
    func isSameSite(_ one: WebOrigin, _ other: WebOrigin) -> Bool {
        one == other || suffixes?.isSameSite(one, other) == true
    }
}
