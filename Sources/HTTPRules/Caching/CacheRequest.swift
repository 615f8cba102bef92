/// A request, as far as the rules of caching look at it.
public struct CacheRequest: Hashable, Sendable {
    /// Its method, in the case in which it is sent.
    public let method: String
    /// Its fields: all that go out but what the store adds. `Accept-Encoding` and `Cookie` belong to them, since a
    /// `Vary` may name them.
    public let fields: HeaderList
    /// How the store is to be used.
    public let policy: CachePolicy
    /// What its `Cache-Control` says.
    public let directives: RequestDirectives

    /// A request.
    ///
    /// - Parameters:
    ///   - method: Its method.
    ///   - fields: Its fields.
    ///   - policy: How the store is to be used.
    public init(method: String = "GET", fields: HeaderList, policy: CachePolicy = .useProtocol) {
        self.method = method
        self.fields = fields
        self.policy = policy
        directives = RequestDirectives(fields)
    }

    /// Whether a stored response can answer it at all: GET and HEAD without conditions that only a server can judge
    /// (RFC 9111, section 4.3.2).
    public var canBeAnsweredFromStore: Bool {
        (method == "GET" || method == "HEAD") && !fields.contains(named: FieldName.ifMatch)
            && !fields.contains(named: FieldName.ifUnmodifiedSince)
    }

    /// Whether neither the store is to be used nor anything to be stored.
    var avoidsStore: Bool { policy == .noStore || directives.isNoStore }
}

/// What came from a server: its status and fields, before its body.
public struct NetworkResponse: Hashable, Sendable {
    /// Its status.
    public let status: Int
    /// Its fields, as they came.
    public let fields: HeaderList
    /// When the request was sent.
    public let requestedAt: UnixTime
    /// When this came.
    public let receivedAt: UnixTime

    /// A response.
    ///
    /// - Parameters:
    ///   - status: Its status.
    ///   - fields: Its fields, as they came.
    ///   - requestedAt: When the request was sent.
    ///   - receivedAt: When this came.
    public init(status: Int, fields: HeaderList, requestedAt: UnixTime, receivedAt: UnixTime) {
        self.status = status
        self.fields = fields
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
    }

    /// Its entity tag; nil where it has none that can be read.
    public var entityTag: EntityTag? { fields.first(named: FieldName.entityTag).flatMap { EntityTag($0) } }

    /// When it says that it was last changed.
    var lastModified: UnixTime? {
        fields.first(named: FieldName.lastModified).flatMap { HTTPDate.parse($0, now: receivedAt) }
    }
}
