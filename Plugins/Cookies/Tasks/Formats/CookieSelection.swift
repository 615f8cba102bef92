import HTTPRules
import TaskKit

/// A selection of the cookies of a profile: those of a domain and the names below it, those of a name, or all.
struct CookieSelection: Sendable {
    private let host: Host?
    private let name: [UInt8]?

    /// Creates a selection from the options of a call; `nil` options do not restrict it.
    ///
    /// - Throws: `options.invalid`.
    init(domain: String?, name: String? = nil) throws(BridgeError) {
        host = if let domain { try KeyText.host(domain, at: "$.domain") } else { nil }
        self.name = name.map { Array($0.utf8) }
    }

    /// Returns whether the selection contains a cookie.
    func contains(_ cookie: Cookie) -> Bool {
        (name.map { $0 == cookie.name } ?? true) && (host.map { CookieMatch.domainMatches(cookie.host, $0) } ?? true)
    }
}
