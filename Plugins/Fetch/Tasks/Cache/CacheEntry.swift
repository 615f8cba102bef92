import HTTPRules

/// A response in the store, with its body or the file of its body.
struct CacheEntry: Sendable {
    /// The bytes of a body. Positions are those of the whole body: byte 0 is its first byte.
    enum Body: Sendable, Hashable {
        case bytes([UInt8])
        /// The name of the file in the folder of bodies.
        case file(String)
    }

    /// The response as the caching rules use it. Its `id` is the number of the row.
    var response: StoredResponse
    /// The reason phrase of the status line.
    var reason: String
    /// The HTTP version of the response.
    var version: String
    var body: Body

    /// The bytes that are added for an entry's row in the tables and indexes.
    static let overheadBytes: Int64 = 512

    /// Returns the bytes that count against the user's limit.
    func storedBytes(of url: String) -> Int64 {
        let held = response.body.pieces.reduce(Int64(0)) { $0 + ($1.upperBound - $1.lowerBound) }
        let text = url.utf8.count + response.fields.byteCount + response.selecting.text.utf8.count
        return held + Int64(text) + Self.overheadBytes
    }

    /// The bytes that the entry takes in memory.
    var memoryBytes: Int64 {
        let body: Int64 = if case .bytes(let bytes) = body { Int64(bytes.count) } else { 0 }
        return body + Int64(response.fields.byteCount) + Self.overheadBytes
    }
}

/// A response that will be stored.
struct NewCacheEntry: Sendable {
    /// A body that will be stored.
    enum Body: Sendable {
        case bytes([UInt8])
        /// A file with the whole body, and the hash of its bytes.
        case file(BodyFile, hash: [UInt8])
    }

    var address: CacheAddress
    var url: WebURL
    var response: StoredResponse
    var reason: String
    var version: String
    var body: Body
}

/// A selection of entries.
struct CacheSelection: Sendable {
    var uid: UInt32
    /// `nil` for all profiles.
    var profile: ProfileName?
    /// `nil` for all sites.
    var site: String?
    /// The origins; `nil` for all.
    var origins: [String]?
    /// The text of one URL; `nil` for all.
    var url: String?
    /// The earliest time of storage; `nil` for any.
    var since: UnixTime?

    /// Whether the selection contains all entries of the user.
    var isWholeUser: Bool { profile == nil && site == nil && origins == nil && url == nil && since == nil }
}
