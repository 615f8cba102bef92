/// The freshness lifetime of a response: RFC 9111, section 4.2.1, for a private cache.
public struct Freshness: Hashable, Sendable {
    /// The source of the lifetime.
    public enum Source: Hashable, Sendable {
        /// `Cache-Control: max-age`.
        case maxAge
        /// `Expires`.
        case expires
        /// An estimate from the time since the last change.
        case heuristic
        /// No source: the response is never fresh.
        case none
    }

    /// The maximum estimated lifetime.
    public static let maximumHeuristicLifetime: Duration = .seconds(7 * 86_400)
    /// The divisor of the time since the last change for the estimate: a tenth.
    public static let heuristicDivisor = 10

    /// The lifetime from the creation of the response; not negative.
    public var lifetime: Duration
    /// The source of the lifetime.
    public var source: Source

    /// Determines the lifetime of a response: `max-age`, otherwise `Expires` minus `Date`, otherwise an estimate.
    ///
    /// - Parameters:
    ///   - status: The response's status.
    ///   - fields: The response's fields.
    ///   - directives: The directives of its `Cache-Control`.
    ///   - receivedAt: The time at which it arrived; used as its `Date` if that is missing or invalid.
    public init(status: Int, fields: HeaderList, directives: ResponseDirectives, receivedAt: UnixTime) {
        let date = Self.date(of: fields, receivedAt: receivedAt)
        if let maxAge = directives.maxAge {
            self.init(lifetime: maxAge, source: .maxAge)
        } else if let expires = fields.first(named: FieldName.expires) {
            // An `Expires` that is no date, in particular 0, counts as a date in the past: RFC 9111, section 5.3.
            let end = HTTPDate.parse(expires, now: receivedAt) ?? date
            self.init(lifetime: max(.zero, TimeSpan.between(date, end)), source: .expires)
        } else if StatusRules.isHeuristicallyCacheable(status) || directives.isPublic,
            let lifetime = Self.heuristic(fields, date: date, receivedAt: receivedAt)
        {
            self.init(lifetime: lifetime, source: .heuristic)
        } else {
            self.init(lifetime: .zero, source: .none)
        }
    }

    private init(lifetime: Duration, source: Source) {
        self.lifetime = lifetime
        self.source = source
    }

    /// Returns the creation time of a response: its `Date`, or the time of its arrival if that is missing or invalid.
    /// RFC 9110, section 6.6.1.
    static func date(of fields: HeaderList, receivedAt: UnixTime) -> UnixTime {
        fields.first(named: FieldName.date).flatMap { HTTPDate.parse($0, now: receivedAt) } ?? receivedAt
    }

    /// Returns a tenth of the time since the last change; `nil` if that is unknown: RFC 9111, section 4.2.2.
    private static func heuristic(_ fields: HeaderList, date: UnixTime, receivedAt: UnixTime) -> Duration? {
        guard let text = fields.first(named: FieldName.lastModified),
            let lastModified = HTTPDate.parse(text, now: receivedAt)
        else { return nil }
        let guess = TimeSpan.between(lastModified, date) / heuristicDivisor
        return guess > .zero ? min(guess, maximumHeuristicLifetime) : nil
    }
}
