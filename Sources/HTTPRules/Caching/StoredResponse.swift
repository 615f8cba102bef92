/// A response in a store, as far as the rules of caching look at it.
public struct StoredResponse: Hashable, Identifiable, Sendable {
    /// What its owner knows it by, such as the number of a row. The rules only hand it back.
    public var id: Int64
    /// Its status.
    public let status: Int
    /// Its fields, without those of one connection: ``StoredFields/storable(of:)``.
    public let fields: HeaderList
    /// The fields of its request that selected it.
    public let selecting: SelectingFields
    /// When its request was sent, or that of the response that confirmed it.
    public let requestedAt: UnixTime
    /// When it came, or was confirmed.
    public let receivedAt: UnixTime
    /// Which bytes of its body are there.
    public var body: HeldBytes
    /// What its `Cache-Control` says.
    public let directives: ResponseDirectives

    /// A response out of a store.
    ///
    /// - Parameters:
    ///   - id: What its owner knows it by.
    ///   - status: Its status.
    ///   - fields: Its stored fields.
    ///   - selecting: The fields of its request that selected it.
    ///   - requestedAt: When its request was sent.
    ///   - receivedAt: When it came.
    ///   - body: Which bytes of its body are there.
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

    /// Its entity tag; nil where it has none that can be read.
    public var entityTag: EntityTag? { fields.first(named: FieldName.entityTag).flatMap { EntityTag($0) } }

    /// When it says that it was last changed; nil where it does not, or not in a way that can be read.
    public var lastModified: UnixTime? {
        fields.first(named: FieldName.lastModified).flatMap { HTTPDate.parse($0, now: receivedAt) }
    }

    /// Whether a server can be asked if it is still right.
    public var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// When it was made, at the latest when it came.
    public var date: UnixTime { min(Freshness.date(of: fields, receivedAt: receivedAt), receivedAt) }

    /// How long it is fresh.
    public var freshness: Freshness {
        Freshness(status: status, fields: fields, directives: directives, receivedAt: receivedAt)
    }

    /// How old it is: RFC 9111, section 4.2.3.
    ///
    /// - Parameter now: The time.
    public func age(at now: UnixTime) -> Duration {
        Age.current(of: fields, requestedAt: requestedAt, receivedAt: receivedAt, now: now)
    }

    /// Whether it is fresh: RFC 9111, section 4.2.
    ///
    /// - Parameter now: The time.
    public func isFresh(at now: UnixTime) -> Bool { freshness.lifetime > age(at: now) }

    /// When it stops being fresh, for an index of a store; at the earliest when it came.
    public var freshUntil: UnixTime {
        let left = freshness.lifetime - Age.initial(of: fields, requestedAt: requestedAt, receivedAt: receivedAt)
        return TimeSpan.moment(receivedAt, plus: left)
    }

    /// Its status; that of a whole response where all pieces of it have come.
    public var statusOfWhole: Int { status == 206 && body.isComplete ? 200 : status }

    /// The same response after a later one has confirmed it: RFC 9111, sections 3.2 and 4.3.4. `Vary` may have changed
    /// with it, and so the key of its variant.
    ///
    /// - Parameters:
    ///   - response: The later response.
    ///   - request: The fields of the later request, with those that a new `Vary` names.
    func freshened(by response: NetworkResponse, request: HeaderList) -> StoredResponse {
        let fields = StoredFields.updated(fields, by: response.fields)
        let again = selecting.fits(request) ? SelectingFields(Vary(fields), request: request) : nil
        return StoredResponse(
            id: id, status: status, fields: fields, selecting: again ?? selecting, requestedAt: response.requestedAt,
            receivedAt: response.receivedAt, body: body)
    }

    /// Whether it may not stay in a store by what a later response has added to it.
    var mustGo: Bool {
        (directives.isNoStore && !directives.mustUnderstand) || Vary(fields) == .everything
    }
}
