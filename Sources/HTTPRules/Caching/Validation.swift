/// Which stored responses a later response confirms: RFC 9111, sections 4.3.4 and 4.3.5.
enum Validation {
    /// The responses that a 304 is about, those first that the request selects. With a strong tag all that have it;
    /// with a weak one, or a date alone, the newest that fits. Without either it is about the one that was asked about,
    /// where that was one alone and no other tags went out: servers leave the tag away, though they must not.
    static func confirmed(
        by response: NetworkResponse, among asked: [StoredResponse], hasOtherTags: Bool
    ) -> [StoredResponse] {
        let dated = asked.filter { $0.lastModified != nil && $0.lastModified == response.lastModified }
        if let tag = response.entityTag {
            if !tag.isWeak {
                let same = asked.filter { $0.entityTag.map { $0.isStronglyEqual(to: tag) } ?? false }
                if !same.isEmpty { return same }
            }
            let alike = asked.filter { $0.entityTag.map { $0.isWeaklyEqual(to: tag) } ?? false }
            // A server may send a tag that it did not send before: then the date is what it was asked with.
            return newest(alike.isEmpty ? dated.filter { $0.entityTag == nil } : alike)
        }
        if response.lastModified != nil { return newest(dated) }
        return asked.count == 1 && !hasOtherTags ? asked : []
    }

    private static func newest(_ stored: [StoredResponse]) -> [StoredResponse] {
        stored.max { $0.date < $1.date }.map { [$0] } ?? []
    }
}

/// What a response to HEAD says of a stored response: RFC 9111, section 4.3.5.
enum HeadComparison {
    /// It is the same: they have a tag or a date of change, and differ in neither these nor the length.
    case same
    /// They differ in one of these.
    case other
    /// There is nothing to compare, or one of them has what the other has not.
    case unknown

    init(_ stored: StoredResponse, _ response: NetworkResponse) {
        let pairs = [FieldName.entityTag, FieldName.lastModified, FieldName.contentLength].map { name in
            (stored.fields.first(named: name), response.fields.first(named: name))
        }
        let validators = pairs.prefix(2)
        if pairs.contains(where: { $0.0 != nil && $0.1 != nil && $0.0 != $0.1 }) {
            self = .other
        } else if validators.contains(where: { $0.0 != nil }), validators.allSatisfy({ $0.0 == $0.1 }) {
            self = .same
        } else {
            self = .unknown
        }
    }
}
