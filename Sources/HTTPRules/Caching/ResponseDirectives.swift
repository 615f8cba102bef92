/// The directives of a response for a private cache: RFC 9111, section 5.2.2, RFC 5861 and RFC 8246. `s-maxage` and
/// `proxy-revalidate` are for shared caches and are not read. Of several values of a directive the first is used. A
/// directive that forbids something is applied even if it is malformed; a directive that permits something must be
/// well-formed.
public struct ResponseDirectives: Hashable, Sendable {
    /// The part of a response that must be validated before use.
    public enum NoCache: Hashable, Sendable {
        /// The whole response.
        case response
        /// These fields of the response, in lower case.
        case fields([String])
    }

    /// The maximum number of fields in `no-cache`: more than a response has lines. A longer list applies to the whole
    /// response.
    public static let maximumFields = HeaderList.maximumLines

    /// Whether the response must not be stored.
    public private(set) var isNoStore = false
    /// The part of a response that must be validated before use.
    public private(set) var noCache: NoCache?
    /// Whether the response may be stored even if its status does not permit it.
    public private(set) var isPublic = false
    /// Whether the response is for one user. For a private cache this permits storing, as `public` does.
    public private(set) var isPrivate = false
    /// Whether the response must not be used when it is stale.
    public private(set) var mustRevalidate = false
    /// Whether caches that understand its status may store the response in spite of `no-store`.
    public private(set) var mustUnderstand = false
    /// Whether the response does not change while it is fresh: RFC 8246.
    public private(set) var isImmutable = false
    /// The freshness lifetime; `nil` if it is not specified. An invalid number counts as 0.
    public private(set) var maxAge: Duration?
    /// The staleness up to which the response may be used while it is revalidated in the background; `nil` if not
    /// permitted: RFC 5861, section 3.
    public private(set) var staleWhileRevalidate: Duration?
    /// The staleness up to which the response may be used if the server fails; `nil` if not permitted: RFC 5861,
    /// section 4.
    public private(set) var staleIfError: Duration?

    /// Reads the directives of a response.
    ///
    /// - Parameter fields: The fields of the response.
    public init(_ fields: HeaderList) {
        for directive in CacheDirective.all(in: fields) { take(directive) }
    }

    private mutating func take(_ directive: CacheDirective) {
        switch directive.name {
        case "no-store": isNoStore = true
        case "no-cache": takeNoCache(directive.argument)
        case "must-revalidate": mustRevalidate = true
        case "max-age": maxAge = maxAge ?? directive.seconds ?? .zero
        case "private": isPrivate = true
        case "public": isPublic = isPublic || directive.isBare
        case "must-understand": mustUnderstand = mustUnderstand || directive.isBare
        case "immutable": isImmutable = isImmutable || directive.isBare
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? directive.seconds
        case "stale-if-error": staleIfError = staleIfError ?? directive.seconds
        default: break
        }
    }

    /// Applies `no-cache`. With names it applies only to these fields: RFC 9111, section 5.2.2.4.
    private mutating func takeNoCache(_ argument: CacheDirective.Argument) {
        guard case .text(let text) = argument, noCache != .response else { return noCache = .response }
        var names = FieldScanner.members(of: text).map { FieldText.lowercase($0) }
        if case .fields(let known) = noCache { names = known + names }
        let isReadable = !names.isEmpty && names.count <= Self.maximumFields && names.allSatisfy(HeaderField.isName)
        noCache = isReadable ? .fields(names) : .response
    }
}
