/// The rules that decide which stored responses a later response confirms: RFC 9111, sections 4.3.4 and 4.3.5.
enum Validation {
    /// Returns the responses that a 304 confirms, the selected one first. With a strong tag these are all responses
    /// that have it; with a weak tag, or only a date, the newest matching one. With neither it is the only response to
    /// be validated, if no other tags were sent: some servers omit the tag, although they must not.
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
            // A server may send a tag that it did not send before. The request then contained only the date.
            return newest(alike.isEmpty ? dated.filter { $0.entityTag == nil } : alike)
        }
        if response.lastModified != nil { return newest(dated) }
        return asked.count == 1 && !hasOtherTags ? asked : []
    }

    private static func newest(_ stored: [StoredResponse]) -> [StoredResponse] {
        stored.max { $0.date < $1.date }.map { [$0] } ?? []
    }
}

/// The comparison of a stored response with a response to HEAD: RFC 9111, section 4.3.5.
enum HeadComparison {
    /// Both are the same: they have a tag or a date of change, and differ neither in these nor in the length.
    case same
    /// Both have one of these values and differ in it.
    case other
    /// There is nothing to compare, or one has a value that the other does not have.
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
