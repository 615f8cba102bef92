/// The properties of a request that the rules of caching use.
public struct CacheRequest: Hashable, Sendable {
    /// The method, in the case in which it is sent.
    public let method: String
    /// All fields that are sent, except those that the store adds. They include `Accept-Encoding` and `Cookie`, because
    /// a `Vary` may name them.
    public let fields: HeaderList
    /// The use of the store.
    public let policy: CachePolicy
    /// The directives of its `Cache-Control`.
    public let directives: RequestDirectives

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - fields: The fields.
    ///   - policy: The use of the store.
    public init(method: String = "GET", fields: HeaderList, policy: CachePolicy = .useProtocol) {
        self.method = method
        self.fields = fields
        self.policy = policy
        directives = RequestDirectives(fields)
    }

    /// Whether a stored response can answer the request at all: GET and HEAD without conditions that only a server can
    /// evaluate (RFC 9111, section 4.3.2).
    public var canBeAnsweredFromStore: Bool {
        (method == "GET" || method == "HEAD") && !fields.contains(named: FieldName.ifMatch)
            && !fields.contains(named: FieldName.ifUnmodifiedSince)
    }

    /// Whether the store must neither be read nor written.
    var avoidsStore: Bool { policy == .noStore || directives.isNoStore }
}

/// A response from a server: its status and fields, before its body.
public struct NetworkResponse: Hashable, Sendable {
    /// The status.
    public let status: Int
    /// The fields, as received.
    public let fields: HeaderList
    /// The time at which the request was sent.
    public let requestedAt: UnixTime
    /// The time at which the response arrived.
    public let receivedAt: UnixTime

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The fields, as received.
    ///   - requestedAt: The time at which the request was sent.
    ///   - receivedAt: The time at which the response arrived.
    public init(status: Int, fields: HeaderList, requestedAt: UnixTime, receivedAt: UnixTime) {
        self.status = status
        self.fields = fields
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
    }

    /// The entity tag; `nil` if it is missing or invalid.
    public var entityTag: EntityTag? { fields.first(named: FieldName.entityTag).flatMap { EntityTag($0) } }

    /// The time in `Last-Modified`; `nil` if it is missing or invalid.
    var lastModified: UnixTime? {
        fields.first(named: FieldName.lastModified).flatMap { HTTPDate.parse($0, now: receivedAt) }
    }
}
