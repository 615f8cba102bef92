// HTTPRules: what the standards of HTTP say about dates, caching, cookies, addresses and public suffixes, as values and
// functions without input, output or clock. The caller gives the time.

/// A moment, in whole seconds since the beginning of 1970 in UTC: what dates in HTTP can say.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds; negative before.
    public var seconds: Int64

    /// The moment so many seconds after the beginning of 1970.
    ///
    /// - Parameter seconds: Since 1970-01-01T00:00:00Z; negative before.
    public init(seconds: Int64) { self.seconds = seconds }

    /// Whether the one is earlier than the other.
    ///
    /// - Parameters:
    ///   - earlier: The one.
    ///   - later: The other.
    public static func < (earlier: UnixTime, later: UnixTime) -> Bool { earlier.seconds < later.seconds }
}
