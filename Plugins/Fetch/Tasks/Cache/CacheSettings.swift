import HTTPRules

/// How much the store of responses holds. The defaults are those of an empty configuration.
struct CacheSettings: Sendable, Hashable {
    /// More is another kind of store.
    static let range: ClosedRange<Int64> = 0...(1 << 40)
    /// A body that is longer than this part of a user's share is not stored: it would drive out all others.
    static let bodyDivisor: Int64 = 8

    /// Of all users; 0: nothing is stored.
    var bytes: Int64 = 512 << 20
    var userBytes: Int64 = 128 << 20
    /// Of an origin, in one partition.
    var originBytes: Int64 = 32 << 20
    var memoryBytes: Int64 = 16 << 20

    /// How long a stored body may be.
    var maximumBodyBytes: Int64 { min(min(userBytes, bytes) / Self.bodyDivisor, originBytes) }
}
