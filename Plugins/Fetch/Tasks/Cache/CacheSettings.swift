import HTTPRules

/// The size limits of the response store. The defaults are those of an empty configuration.
struct CacheSettings: Sendable, Hashable {
    /// The range of the settings in bytes. A larger store needs a different design.
    static let range: ClosedRange<Int64> = 0...(1 << 40)
    /// The divisor for the maximum length of a stored body: a longer part of a user's limit would displace too many
    /// other entries.
    static let bodyDivisor: Int64 = 8

    /// The limit for all users; 0 if nothing is stored.
    var bytes: Int64 = 512 << 20
    var userBytes: Int64 = 128 << 20
    /// The limit for an origin in one partition.
    var originBytes: Int64 = 32 << 20
    var memoryBytes: Int64 = 16 << 20

    /// The maximum length of a stored body.
    var maximumBodyBytes: Int64 { min(min(userBytes, bytes) / Self.bodyDivisor, originBytes) }
}
