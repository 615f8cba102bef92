/// How long a response is fresh: RFC 9111, section 4.2.1, for a private cache.
public struct Freshness: Hashable, Sendable {
    /// Where the lifetime comes from.
    public enum Source: Hashable, Sendable {
        /// `Cache-Control: max-age`.
        case maxAge
        /// `Expires`.
        case expires
        /// The time since the last change.
        case heuristic
        /// Nothing: it is never fresh.
        case none
    }

    /// The longest time that is guessed.
    public static let maximumHeuristicLifetime: Duration = .seconds(7 * 86_400)
    /// The part of the time since the last change that is guessed: a tenth.
    public static let heuristicDivisor = 10

    /// How long, from its generation on; not negative.
    public var lifetime: Duration
    /// Where that comes from.
    public var source: Source

    /// The lifetime of a response: `max-age`, else `Expires` less `Date`, else a guess.
    ///
    /// - Parameters:
    ///   - status: Its status.
    ///   - fields: Its fields.
    ///   - directives: What its `Cache-Control` says.
    ///   - receivedAt: When it came; counts as its `Date` where it has none that can be read.
    public init(status: Int, fields: HeaderList, directives: ResponseDirectives, receivedAt: UnixTime) {
        let date = Self.date(of: fields, receivedAt: receivedAt)
        if let maxAge = directives.maxAge {
            self.init(lifetime: maxAge, source: .maxAge)
        } else if let expires = fields.first(named: FieldName.expires) {
            // An `Expires` that is no date, 0 above all, is one of the past: RFC 9111, section 5.3.
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

    /// When a response was made: its `Date`, or when it came where that cannot be read. RFC 9110, section 6.6.1.
    static func date(of fields: HeaderList, receivedAt: UnixTime) -> UnixTime {
        fields.first(named: FieldName.date).flatMap { HTTPDate.parse($0, now: receivedAt) } ?? receivedAt
    }

    /// A tenth of the time since the last change: RFC 9111, section 4.2.2.
    private static func heuristic(_ fields: HeaderList, date: UnixTime, receivedAt: UnixTime) -> Duration? {
        guard let text = fields.first(named: FieldName.lastModified),
            let lastModified = HTTPDate.parse(text, now: receivedAt)
        else { return nil }
        let guess = TimeSpan.between(lastModified, date) / heuristicDivisor
        return guess > .zero ? min(guess, maximumHeuristicLifetime) : nil
    }
}
