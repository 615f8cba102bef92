/// The conditions that the caller has set in a request: RFC 9110, sections 13.1.2, 13.1.3 and 13.1.5.
struct CallerConditions {
    private let fields: HeaderList

    init(_ fields: HeaderList) { self.fields = fields }

    /// Whether there are conditions that a 304 can answer.
    var areThere: Bool {
        fields.contains(named: FieldName.ifNoneMatch) || fields.contains(named: FieldName.ifModifiedSince)
    }

    /// The tags of `If-None-Match`; `nil` if there is none, or its value cannot be combined with other tags.
    var tags: [EntityTag]? {
        if case .tags(let tags) = EntityTagList(named: FieldName.ifNoneMatch, in: fields) { tags } else { nil }
    }

    /// Whether there is an `If-None-Match`.
    var hasTags: Bool { fields.contains(named: FieldName.ifNoneMatch) }

    /// Returns whether the caller already has a stored response: RFC 9111, section 4.3.2. A tag takes precedence over a
    /// date. If the response has no date of its last change, its creation date is used.
    func areMet(by stored: StoredResponse) -> Bool {
        guard stored.statusOfWhole == 200 else { return false }
        if hasTags {
            return EntityTagList(named: FieldName.ifNoneMatch, in: fields)?.contains(stored.entityTag) ?? false
        }
        let dates = fields.values(named: FieldName.ifModifiedSince)
        guard dates.count == 1, let since = HTTPDate.parse(dates[0], now: stored.receivedAt) else { return false }
        return (stored.lastModified ?? stored.date) <= since
    }

    /// Returns whether the range of the request applies to a stored response: RFC 9110, section 13.1.5. A date is valid
    /// only if it equals the response's date of change, and was at least one minute old when the response was created.
    func permitRange(of stored: StoredResponse) -> Bool {
        guard let value = fields.first(named: FieldName.ifRange) else { return true }
        if let tag = EntityTag(value) { return stored.entityTag.map { $0.isStronglyEqual(to: tag) } ?? false }
        guard let date = HTTPDate.parse(value, now: stored.receivedAt), date == stored.lastModified else {
            return false
        }
        return TimeSpan.between(date, stored.date) >= .seconds(60)
    }
}
