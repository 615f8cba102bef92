import HTTPRules

/// A response in the store, with its body or where that is.
struct CacheEntry: Sendable {
    /// Where the bytes of a body are. They lie at their own places: byte 0 is the first of the whole body.
    enum Body: Sendable, Hashable {
        case bytes([UInt8])
        /// The name of a file in the folder of bodies.
        case file(String)
    }

    /// What the rules look at. Its `id` is the number of the row.
    var response: StoredResponse
    /// The words behind the status.
    var reason: String
    /// The version of HTTP that it came by.
    var version: String
    var body: Body

    /// What an entry takes beside what is counted: its row in the tables and indexes.
    static let overheadBytes: Int64 = 512

    /// What the entry takes of a user's share.
    func storedBytes(of url: String) -> Int64 {
        let held = response.body.pieces.reduce(Int64(0)) { $0 + ($1.upperBound - $1.lowerBound) }
        let text = url.utf8.count + response.fields.byteCount + response.selecting.text.utf8.count
        return held + Int64(text) + Self.overheadBytes
    }

    /// What the entry takes in memory.
    var memoryBytes: Int64 {
        let body: Int64 = if case .bytes(let bytes) = body { Int64(bytes.count) } else { 0 }
        return body + Int64(response.fields.byteCount) + Self.overheadBytes
    }
}

/// A response that is to be stored.
struct NewCacheEntry: Sendable {
    /// A body on its way into the store.
    enum Body: Sendable {
        case bytes([UInt8])
        /// A file that has the whole of it, and the hash of the bytes in it.
        case file(BodyFile, hash: [UInt8])
    }

    var address: CacheAddress
    var url: WebURL
    var response: StoredResponse
    var reason: String
    var version: String
    var body: Body
}

/// Which entries are meant, where several are.
struct CacheSelection: Sendable {
    var uid: UInt32
    /// Nil: of all profiles.
    var profile: ProfileName?
    /// Nil: of all sites.
    var site: String?
    /// Origins; nil: all.
    var origins: [String]?
    /// The text of one URL; nil: all.
    var url: String?
    /// Only what was stored then or later.
    var since: UnixTime?
}
