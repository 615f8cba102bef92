import HTTPRules
import Sodium

/// Whose part of the store a response is in. Nobody learns from the store what another user has fetched, or the same
/// user for another site.
struct CachePartition: Hashable, Sendable {
    /// The site of a user's own programs, which speak for no origin.
    static let localSite = "local"

    var uid: UInt32
    var profile: String
    /// The site that the session speaks for.
    var site: String

    /// - Parameters:
    ///   - uid: The caller's uid.
    ///   - profile: The profile of the request's cookies.
    ///   - origin: What the session speaks for.
    ///   - suffixes: Which sites there are; nil: each origin is one.
    init(uid: UInt32, profile: ProfileName, origin: String, _ suffixes: PublicSuffixList?) {
        (self.uid, self.profile, site) = (uid, profile.text, Self.site(of: origin, suffixes))
    }

    /// The site that a session speaks for.
    ///
    /// - Parameters:
    ///   - origin: What it speaks for.
    ///   - suffixes: Which sites there are; nil: each origin is one.
    static func site(of origin: String, _ suffixes: PublicSuffixList?) -> String {
        // Only that word is the user's own programs: no site is written so.
        guard origin != localSite, let web = try? WebOrigin(international: origin) else { return origin }
        return suffixes?.site(of: web).text ?? web.text
    }

    init(uid: UInt32, profile: String, site: String) { (self.uid, self.profile, self.site) = (uid, profile, site) }
}

/// Where the stored responses to requests for one URL are.
struct CacheAddress: Hashable, Sendable {
    let partition: CachePartition
    /// A hash of the URL without its fragment, and of the caller's key.
    let key: [UInt8]

    /// - Parameters:
    ///   - partition: Whose.
    ///   - url: The URL.
    ///   - key: Distinguishes responses to the same URL; nil: one response for each variant.
    init(_ partition: CachePartition, _ url: WebURL, key: String?) {
        self.partition = partition
        // No URL has this byte.
        self.key = BLAKE2b.hash(Array(url.text.utf8) + (key.map { [0] + Array($0.utf8) } ?? []))
    }
}
