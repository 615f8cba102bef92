/// What a response says to a private cache: RFC 9111, section 5.2.2, RFC 5861 and RFC 8246. `s-maxage` and
/// `proxy-revalidate` are for shared caches, and are not read. Of several values of a directive the first counts. What
/// forbids something counts however it is written; what permits something must be written right.
public struct ResponseDirectives: Hashable, Sendable {
    /// What must not be used without asking the server.
    public enum NoCache: Hashable, Sendable {
        /// The response.
        case response
        /// These of its fields, in small letters.
        case fields([String])
    }

    /// How many fields `no-cache` may list: more than a response has lines. Where it lists more, it counts for all.
    public static let maximumFields = HeaderList.maximumLines

    /// Must not be stored.
    public private(set) var isNoStore = false
    /// What must not be used without asking the server.
    public private(set) var noCache: NoCache?
    /// May be stored though its status says nothing of it.
    public private(set) var isPublic = false
    /// Is for one user. Here it permits storing, as `public` does.
    public private(set) var isPrivate = false
    /// Must not be used once it is stale.
    public private(set) var mustRevalidate = false
    /// May be stored in spite of `no-store` by those that know its status.
    public private(set) var mustUnderstand = false
    /// Does not change while it is fresh: RFC 8246.
    public private(set) var isImmutable = false
    /// How long it is fresh. A number that cannot be read is 0.
    public private(set) var maxAge: Duration?
    /// How long it may be used while the server is asked behind: RFC 5861, section 3.
    public private(set) var staleWhileRevalidate: Duration?
    /// How long it may be used where the server fails: RFC 5861, section 4.
    public private(set) var staleIfError: Duration?

    /// The directives of a response.
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

    /// RFC 9111, section 5.2.2.4: with names it counts for these fields alone.
    private mutating func takeNoCache(_ argument: CacheDirective.Argument) {
        guard case .text(let text) = argument, noCache != .response else { return noCache = .response }
        var names = FieldScanner.members(of: text).map { FieldText.lowercase($0) }
        if case .fields(let known) = noCache { names = known + names }
        let isReadable = !names.isEmpty && names.count <= Self.maximumFields && names.allSatisfy(HeaderField.isName)
        noCache = isReadable ? .fields(names) : .response
    }
}
