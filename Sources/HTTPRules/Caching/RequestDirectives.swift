/// The directives of a request for caches: RFC 9111, section 5.2.1, and RFC 5861, section 4. Of several values of a
/// directive the first is used.
public struct RequestDirectives: Hashable, Sendable {
    /// The permitted staleness of a response.
    public enum MaxStale: Hashable, Sendable {
        /// Any staleness.
        case unlimited
        /// At most this staleness.
        case upTo(Duration)
    }

    /// Whether the store must neither be read nor written.
    public private(set) var isNoStore = false
    /// Whether a stored response must be validated before use.
    public private(set) var isNoCache = false
    /// Whether only the store may answer.
    public private(set) var isOnlyIfCached = false
    /// The maximum age of a response; `nil` for no limit. An invalid number counts as 0.
    public private(set) var maxAge: Duration?
    /// The time for which a response must stay fresh; `nil` for no requirement.
    public private(set) var minFresh: Duration?
    /// The permitted staleness of a response; `nil` if it must not be stale.
    public private(set) var maxStale: MaxStale?
    /// The permitted staleness if the server fails; `nil` if the response must not be stale.
    public private(set) var staleIfError: Duration?

    /// Reads the directives of a request. `Pragma: no-cache` is used if there is no `Cache-Control`: section 5.4.
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
