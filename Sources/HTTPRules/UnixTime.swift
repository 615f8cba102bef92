// HTTPRules: the rules of the HTTP standards for dates, caching, cookies, addresses and public suffixes, as values and
// functions without input, output or clock. The caller provides the time.

/// A moment in whole seconds since the beginning of 1970 in UTC, the resolution of dates in HTTP.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// The seconds since 1970-01-01T00:00:00Z, without leap seconds; negative before.
    public var seconds: Int64

    /// Creates a moment from its seconds since the beginning of 1970.
    ///
    /// - Parameter seconds: The seconds since 1970-01-01T00:00:00Z; negative before.
    public init(seconds: Int64) { self.seconds = seconds }

    /// Returns whether a moment is earlier than another.
    ///
    /// - Parameters:
    ///   - earlier: The first moment.
    ///   - later: The second moment.
    public static func < (earlier: UnixTime, later: UnixTime) -> Bool { earlier.seconds < later.seconds }
}
