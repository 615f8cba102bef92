/// The properties of a stored response that the rules of caching use.
public struct StoredResponse: Hashable, Identifiable, Sendable {
    /// The owner's identifier, such as the number of a row. The rules only return it.
    public var id: Int64
    /// The status.
    public let status: Int
    /// The fields, without those of one connection: ``StoredFields/storable(of:)``.
    public let fields: HeaderList
    /// The fields of its request that selected it.
    public let selecting: SelectingFields
    /// The time at which its request was sent, or the request of the response that confirmed it.
    public let requestedAt: UnixTime
    /// The time at which it arrived or was confirmed.
    public let receivedAt: UnixTime
    /// The stored bytes of its body.
    public var body: HeldBytes
    /// The directives of its `Cache-Control`.
    public let directives: ResponseDirectives

    /// Creates a response from a store.
    ///
    /// - Parameters:
    ///   - id: The owner's identifier.
    ///   - status: The status.
    ///   - fields: The stored fields.
    ///   - selecting: The fields of its request that selected it.
    ///   - requestedAt: The time at which its request was sent.
    ///   - receivedAt: The time at which it arrived.
    ///   - body: The stored bytes of its body.
    public init(
        id: Int64, status: Int, fields: HeaderList, selecting: SelectingFields, requestedAt: UnixTime,
        receivedAt: UnixTime, body: HeldBytes
    ) {
        self.id = id
        self.status = status
        self.fields = fields
        self.selecting = selecting
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        self.body = body
        directives = ResponseDirectives(fields)
    }

    /// The entity tag; `nil` if it is missing or invalid.
    public var entityTag: EntityTag? { fields.first(named: FieldName.entityTag).flatMap { EntityTag($0) } }

    /// The time in `Last-Modified`; `nil` if it is missing or invalid.
    public var lastModified: UnixTime? {
        fields.first(named: FieldName.lastModified).flatMap { HTTPDate.parse($0, now: receivedAt) }
    }

    /// Whether a server can validate it.
    public var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// The creation time, not later than its arrival.
    public var date: UnixTime { min(Freshness.date(of: fields, receivedAt: receivedAt), receivedAt) }

    /// The freshness lifetime.
    public var freshness: Freshness {
        Freshness(status: status, fields: fields, directives: directives, receivedAt: receivedAt)
    }

    /// Returns the age: RFC 9111, section 4.2.3.
    ///
    /// - Parameter now: The time.
    public func age(at now: UnixTime) -> Duration {
        Age.current(of: fields, requestedAt: requestedAt, receivedAt: receivedAt, now: now)
    }

    /// Returns whether the response is fresh: RFC 9111, section 4.2.
    ///
    /// - Parameter now: The time.
    public func isFresh(at now: UnixTime) -> Bool { freshness.lifetime > age(at: now) }

    /// The end of its freshness, for an index of a store; not earlier than its arrival.
    public var freshUntil: UnixTime {
        let left = freshness.lifetime - Age.initial(of: fields, requestedAt: requestedAt, receivedAt: receivedAt)
        return TimeSpan.moment(receivedAt, plus: left)
    }

    /// The status; 200 for a 206 whose body is complete.
    public var statusOfWhole: Int { status == 206 && body.isComplete ? 200 : status }

    /// Returns the same response after a later one has confirmed it: RFC 9111, sections 3.2 and 4.3.4. `Vary`, and so
    /// the key of its variant, may have changed.
    ///
    /// - Parameters:
    ///   - response: The later response.
    ///   - request: The fields of the later request, including those that a new `Vary` names.
    func freshened(by response: NetworkResponse, request: HeaderList) -> StoredResponse {
        let fields = StoredFields.updated(fields, by: response.fields)
        let again = selecting.fits(request) ? SelectingFields(Vary(fields), request: request) : nil
        return StoredResponse(
            id: id, status: status, fields: fields, selecting: again ?? selecting, requestedAt: response.requestedAt,
            receivedAt: response.receivedAt, body: body)
    }

    /// Whether the response must be removed from a store because of fields that a later response has added.
    var mustGo: Bool {
        (directives.isNoStore && !directives.mustUnderstand) || Vary(fields) == .everything
    }
}
