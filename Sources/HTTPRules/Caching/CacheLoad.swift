/// A request that goes to the server, with what the store adds to it: RFC 9111, section 4.3.1.
public struct CacheLoad: Hashable, Sendable {
    /// How many tags the store adds: a server compares each.
    public static let maximumTags = 16

    /// The fields that go out.
    public private(set) var fields: HeaderList
    /// The stored response that the request selects, and that could answer it.
    public let selected: StoredResponse?
    /// The stored responses that the server is asked about, the selected one first.
    public let asked: [StoredResponse]
    /// The stored response that lacks bytes, which are asked for.
    public let resumed: StoredResponse?
    /// The request as its maker gave it.
    public let request: CacheRequest
    /// Whether nobody waits for it.
    public let isBehind: Bool

    private init(
        _ fields: HeaderList, selected: StoredResponse? = nil, asked: [StoredResponse] = [],
        resumed: StoredResponse? = nil, request: CacheRequest, isBehind: Bool = false
    ) {
        self.fields = fields
        self.selected = selected
        self.asked = asked
        self.resumed = resumed
        self.request = request
        self.isBehind = isBehind
        addFieldsOfPolicy()
    }

    /// A request without conditions of the store's.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - selected: The response that it selects.
    init(unconditional request: CacheRequest, selected: StoredResponse? = nil) {
        self.init(request.fields, selected: selected, request: request)
    }

    /// A request that asks whether stored responses are right.
    ///
    /// - Parameters:
    ///   - selected: The response that the request selects; nil where there is none.
    ///   - others: Other variants: the server may say that one of them is right.
    ///   - request: The request.
    ///   - isBehind: Whether the maker of the request has an answer already; his conditions are left away then.
    init(validating selected: StoredResponse?, others: [StoredResponse], request: CacheRequest, isBehind: Bool) {
        var conditions = ValidationConditions(request.fields, isBehind: isBehind)
        let asked = conditions.add(selected: selected, others: others)
        self.init(conditions.fields, selected: selected, asked: asked, request: request, isBehind: isBehind)
    }

    /// A request for the bytes that a stored response lacks; nil where they could not be joined to it, or the maker of
    /// the request asks for a range of his own: RFC 9111, section 3.4, and RFC 9110, section 13.1.5.
    ///
    /// - Parameters:
    ///   - stored: The response.
    ///   - request: The request.
    init?(resuming stored: StoredResponse, request: CacheRequest) {
        let isOrdinary = [FieldName.range, FieldName.ifRange, FieldName.ifNoneMatch, FieldName.ifModifiedSince]
            .allSatisfy { !request.fields.contains(named: $0) }
        guard isOrdinary, stored.canBeJoined, let missing = stored.body.missing, let tag = stored.entityTag,
            missing != .bounds(first: 0, last: nil)
        else { return nil }
        var fields = request.fields
        fields.set(FieldName.range, missing.text)
        fields.set(FieldName.ifRange, tag.text)
        self.init(fields, resumed: stored, request: request)
    }

    /// As Fetch has it, a policy adds nothing where the request has such a field.
    private mutating func addFieldsOfPolicy() {
        for field in request.policy.addedFields where !request.fields.contains(named: field.name) {
            fields.append(field)
        }
    }

    /// What answers where the connection fails: nil where the failure is the answer. RFC 5861, section 4.
    ///
    /// - Parameter now: The time of the failure.
    public func answerAfterFailure(at now: UnixTime) -> StoredAnswer? {
        guard request.policy == .useProtocol, !isBehind, let selected,
            StoredUse.isAllowedAfterFailure(of: selected, for: request.directives, at: now)
        else { return nil }
        return StoredAnswer(selected, to: request)
    }
}

/// The conditions of a request that goes out.
private struct ValidationConditions {
    var fields: HeaderList
    private let own: CallerConditions

    init(_ fields: HeaderList, isBehind: Bool) {
        var fields = fields
        if isBehind {
            for name in [FieldName.ifNoneMatch, FieldName.ifModifiedSince, FieldName.range, FieldName.ifRange] {
                fields.remove(named: name)
            }
        }
        self.fields = fields
        own = CallerConditions(fields)
    }

    /// Adds what stored responses are known by; returns those that are asked about.
    mutating func add(selected: StoredResponse?, others: [StoredResponse]) -> [StoredResponse] {
        // `*`, and what cannot be read, cannot be joined with anything.
        if own.hasTags, own.tags == nil { return [] }
        let tagged = ([selected].compactMap { $0 } + others).filter { $0.entityTag != nil }.prefix(
            CacheLoad.maximumTags)
        var asked = Array(tagged)
        let hasTags = !asked.isEmpty || own.tags != nil
        if !asked.isEmpty {
            var tags = own.tags ?? []
            for tag in asked.compactMap(\.entityTag) where !tags.contains(tag) { tags.append(tag) }
            fields.set(FieldName.ifNoneMatch, tags.map(\.text).joined(separator: ", "))
            // A server that does not know tags would answer for the date of the maker of the request.
            fields.remove(named: FieldName.ifModifiedSince)
        }
        guard let selected, let date = selected.fields.first(named: FieldName.lastModified),
            selected.lastModified != nil, selected.entityTag != nil || !hasTags
        else { return asked }
        // Word for word as it came: some servers compare texts.
        fields.set(FieldName.ifModifiedSince, date)
        if selected.entityTag == nil { asked.insert(selected, at: 0) }
        return asked
    }
}

extension StoredResponse {
    /// Whether other bytes may be joined to those that are held: only a strong tag says that they are of the same body.
    /// RFC 9110, section 15.3.7.3.
    var canBeJoined: Bool { (status == 200 || status == 206) && entityTag.map { !$0.isWeak } == true }
}
