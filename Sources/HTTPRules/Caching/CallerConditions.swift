/// The conditions that the maker of a request has set: RFC 9110, sections 13.1.2, 13.1.3 and 13.1.5.
struct CallerConditions {
    private let fields: HeaderList

    init(_ fields: HeaderList) { self.fields = fields }

    /// Whether there are any that a 304 can answer.
    var areThere: Bool {
        fields.contains(named: FieldName.ifNoneMatch) || fields.contains(named: FieldName.ifModifiedSince)
    }

    /// The tags of `If-None-Match`; nil where there is none, or something that cannot be joined with other tags.
    var tags: [EntityTag]? {
        if case .tags(let tags) = EntityTagList(named: FieldName.ifNoneMatch, in: fields) { tags } else { nil }
    }

    /// Whether there is an `If-None-Match`.
    var hasTags: Bool { fields.contains(named: FieldName.ifNoneMatch) }

    /// Whether a stored response is what the maker of the request has already: RFC 9111, section 4.3.2. A tag beats a
    /// date; where the response does not say when it was changed, when it was made counts.
    func areMet(by stored: StoredResponse) -> Bool {
        guard stored.statusOfWhole == 200 else { return false }
        if hasTags {
            return EntityTagList(named: FieldName.ifNoneMatch, in: fields)?.contains(stored.entityTag) ?? false
        }
        let dates = fields.values(named: FieldName.ifModifiedSince)
        guard dates.count == 1, let since = HTTPDate.parse(dates[0], now: stored.receivedAt) else { return false }
        return (stored.lastModified ?? stored.date) <= since
    }

    /// Whether the range of the request counts for a stored response: RFC 9110, section 13.1.5. A date counts only
    /// where it is the very one of the response, and was a minute old at least when the response was made.
    func permitRange(of stored: StoredResponse) -> Bool {
        guard let value = fields.first(named: FieldName.ifRange) else { return true }
        if let tag = EntityTag(value) { return stored.entityTag.map { $0.isStronglyEqual(to: tag) } ?? false }
        guard let date = HTTPDate.parse(value, now: stored.receivedAt), date == stored.lastModified else {
            return false
        }
        return TimeSpan.between(date, stored.date) >= .seconds(60)
    }
}
