import HTTPRules
import Sodium

/// The part of the store that a response belongs to. Partitions hide from a caller what another user has fetched, or
/// the same user for another site.
struct CachePartition: Hashable, Sendable {
    /// The site of a user's own programs, which represent no origin.
    static let localSite = "local"

    var uid: UInt32
    var profile: String
    /// The site that the session represents.
    var site: String

    /// Creates the partition of a session.
    ///
    /// - Parameters:
    ///   - uid: The caller's uid.
    ///   - profile: The profile of the request's cookies.
    ///   - origin: The origin that the session represents.
    ///   - suffixes: The public suffix list that defines sites; `nil` if each origin is a site.
    init(uid: UInt32, profile: ProfileName, origin: String, _ suffixes: PublicSuffixList?) {
        (self.uid, self.profile, site) = (uid, profile.text, Self.site(of: origin, suffixes))
    }

    /// Returns the site that a session represents.
    ///
    /// - Parameters:
    ///   - origin: The session's origin.
    ///   - suffixes: The public suffix list that defines sites; `nil` if each origin is a site.
    static func site(of origin: String, _ suffixes: PublicSuffixList?) -> String {
        // Only the user's own programs have this origin: it is not the text of any site.
        guard origin != localSite, let web = try? WebOrigin(international: origin) else { return origin }
        return suffixes?.site(of: web).text ?? web.text
    }

    init(uid: UInt32, profile: String, site: String) { (self.uid, self.profile, self.site) = (uid, profile, site) }
}

/// The address of the stored responses to requests for one URL.
struct CacheAddress: Hashable, Sendable {
    let partition: CachePartition
    /// A hash of the URL without its fragment, and of the caller's key.
    let key: [UInt8]

    /// Creates the address of a URL.
    ///
    /// - Parameters:
    ///   - partition: The partition of the caller.
    ///   - url: The URL.
    ///   - key: A key that distinguishes responses to the same URL; `nil` if there is only one response for each
    ///     variant.
    init(_ partition: CachePartition, _ url: WebURL, key: String?) {
        self.partition = partition
        // No URL contains the byte 0.
        self.key = BLAKE2b.hash(Array(url.text.utf8) + (key.map { [0] + Array($0.utf8) } ?? []))
    }
}
