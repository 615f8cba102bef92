import HTTPRules
import TaskKit

/// Where a caller's requests may go: a page's to its own site, those of a local session anywhere that the address gate
/// lets pass.
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
    var pageOrigin: WebOrigin? { origin.flatMap { try? WebOrigin($0) } }

    /// - Throws: `permission.denied`.
    func check(_ url: WebURL) throws(BridgeError) {
        guard let origin else { return }
        if let own = pageOrigin {
            if own == url.origin || suffixes?.isSameSite(own, url.origin) == true { return }
        }
        throw BridgeError(
            .permissionDenied, "a session of \(origin) may fetch from its own site alone, not from \(url.origin)")
    }
}
