/// What a request asks of caches: RFC 9111, section 5.2.1, and RFC 5861, section 4. Of several values of a directive
/// the first counts.
public struct RequestDirectives: Hashable, Sendable {
    /// How stale a response may be.
    public enum MaxStale: Hashable, Sendable {
        /// By any time.
        case unlimited
        /// By so much.
        case upTo(Duration)
    }

    /// Neither use nor store anything.
    public private(set) var isNoStore = false
    /// Use nothing without asking the server.
    public private(set) var isNoCache = false
    /// Use the store, and nothing else.
    public private(set) var isOnlyIfCached = false
    /// How old a response may be. A number that cannot be read is 0.
    public private(set) var maxAge: Duration?
    /// How long a response must still be fresh.
    public private(set) var minFresh: Duration?
    /// How stale a response may be; nil: not at all.
    public private(set) var maxStale: MaxStale?
    /// How stale a response may be where the server fails; nil: not at all.
    public private(set) var staleIfError: Duration?

    /// The directives of a request. `Pragma: no-cache` counts where there is no `Cache-Control`: section 5.4.
    ///
    /// - Parameter fields: The fields of the request.
    public init(_ fields: HeaderList) {
        for directive in CacheDirective.all(in: fields) { take(directive) }
        if !fields.contains(named: FieldName.cacheControl) {
            isNoCache = fields.members(named: FieldName.pragma).contains { FieldText.isSame($0, "no-cache") }
        }
    }

    private mutating func take(_ directive: CacheDirective) {
        switch directive.name {
        case "no-store": isNoStore = true
        case "no-cache": isNoCache = true
        case "only-if-cached": isOnlyIfCached = true
        case "max-age": maxAge = maxAge ?? directive.seconds ?? .zero
        case "min-fresh": minFresh = minFresh ?? directive.seconds
        case "max-stale": maxStale = maxStale ?? (directive.isBare ? .unlimited : directive.seconds.map { .upTo($0) })
        case "stale-if-error": staleIfError = staleIfError ?? directive.seconds
        default: break
        }
    }
}
