/// A request to the server, with the fields that the store adds: RFC 9111, section 4.3.1.
public struct CacheLoad: Hashable, Sendable {
    /// The maximum number of tags that the store adds: a server compares each.
    public static let maximumTags = 16

    /// The fields that are sent.
    public private(set) var fields: HeaderList
    /// The stored response that the request selects and that could answer it; `nil` if there is none.
    public let selected: StoredResponse?
    /// The stored responses that the server is asked to validate, the selected one first.
    public let asked: [StoredResponse]
    /// The incomplete stored response whose missing bytes are requested; `nil` if there is none.
    public let resumed: StoredResponse?
    /// The request in the caller's form.
    public let request: CacheRequest
    /// Whether the caller has its answer already, so that nothing waits for this request.
    public let isBackground: Bool

    private init(
        _ fields: HeaderList, selected: StoredResponse? = nil, asked: [StoredResponse] = [],
        resumed: StoredResponse? = nil, request: CacheRequest, isBackground: Bool = false
    ) {
        self.fields = fields
        self.selected = selected
        self.asked = asked
        self.resumed = resumed
        self.request = request
        self.isBackground = isBackground
        addFieldsOfPolicy()
    }

    /// Creates a request without conditions of the store.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - selected: The response that it selects; `nil` for none.
    init(unconditional request: CacheRequest, selected: StoredResponse? = nil) {
        self.init(request.fields, selected: selected, request: request)
    }

    /// Creates a request that validates stored responses.
    ///
    /// - Parameters:
    ///   - selected: The response that the request selects; `nil` if there is none.
    ///   - others: Other variants. The server may confirm one of them.
    ///   - request: The request.
    ///   - isBackground: Whether the caller has its answer already. Its conditions are then omitted.
    init(validating selected: StoredResponse?, others: [StoredResponse], request: CacheRequest, isBackground: Bool) {
        var conditions = ValidationConditions(request.fields, isBackground: isBackground)
        let asked = conditions.add(selected: selected, others: others)
        self.init(conditions.fields, selected: selected, asked: asked, request: request, isBackground: isBackground)
    }

    /// Creates a request for the missing bytes of a stored response; `nil` if they could not be joined to it, or the
    /// caller's request has a range or conditions of its own: RFC 9111, section 3.4, and RFC 9110, section 13.1.5.
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

    /// Adds the fields of the policy. As in Fetch, a policy adds no field that the request already has.
    private mutating func addFieldsOfPolicy() {
        for field in request.policy.addedFields where !request.fields.contains(named: field.name) {
            fields.append(field)
        }
    }

    /// Returns the stored answer to use when the connection fails; `nil` if the failure is the answer. RFC 5861,
    /// section 4.
    ///
    /// - Parameter now: The time of the failure.
    public func answerAfterFailure(at now: UnixTime) -> StoredAnswer? {
        guard request.policy == .useProtocol, !isBackground, let selected,
            StoredUse.isAllowedAfterFailure(of: selected, for: request.directives, at: now)
        else { return nil }
        return StoredAnswer(selected, to: request)
    }
}

/// The conditions of a request to the server.
private struct ValidationConditions {
    var fields: HeaderList
    private let own: CallerConditions

    init(_ fields: HeaderList, isBackground: Bool) {
        var fields = fields
        if isBackground {
            for name in [FieldName.ifNoneMatch, FieldName.ifModifiedSince, FieldName.range, FieldName.ifRange] {
                fields.remove(named: name)
            }
        }
        self.fields = fields
        own = CallerConditions(fields)
    }

    /// Adds the validators of stored responses. Returns the responses that the server is asked to validate.
    mutating func add(selected: StoredResponse?, others: [StoredResponse]) -> [StoredResponse] {
        // `*` and invalid values cannot be combined with other tags.
        if own.hasTags, own.tags == nil { return [] }
        let tagged = ([selected].compactMap { $0 } + others).filter { $0.entityTag != nil }.prefix(
            CacheLoad.maximumTags)
        var asked = Array(tagged)
        let hasTags = !asked.isEmpty || own.tags != nil
        if !asked.isEmpty {
            var tags = own.tags ?? []
            for tag in asked.compactMap(\.entityTag) where !tags.contains(tag) { tags.append(tag) }
            fields.set(FieldName.ifNoneMatch, tags.map(\.text).joined(separator: ", "))
            // A server that does not support tags would use the caller's date.
            fields.remove(named: FieldName.ifModifiedSince)
        }
        guard let selected, let date = selected.fields.first(named: FieldName.lastModified),
            selected.lastModified != nil, selected.entityTag != nil || !hasTags
        else { return asked }
        // Exactly as received: some servers compare texts.
        fields.set(FieldName.ifModifiedSince, date)
        if selected.entityTag == nil { asked.insert(selected, at: 0) }
        return asked
    }
}

extension StoredResponse {
    /// Whether other bytes may be joined to the stored ones. Only a strong tag confirms that they belong to the same
    /// body. RFC 9110, section 15.3.7.3.
    var canBeJoined: Bool { (status == 200 || status == 206) && entityTag.map { !$0.isWeak } == true }
}
