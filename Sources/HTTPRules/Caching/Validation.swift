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
            // A server may tell a tag that it did not tell before: then the date is what it was asked with.
            return newest(alike.isEmpty ? dated.filter { $0.entityTag == nil } : alike)
        }
        if response.lastModified != nil { return newest(dated) }
        return asked.count == 1 && !hasOtherTags ? asked : []
    }

    private static func newest(_ stored: [StoredResponse]) -> [StoredResponse] {
        stored.max { $0.date < $1.date }.map { [$0] } ?? []
    }
}

extension StoredResponse {
    /// Whether a response to HEAD is about the same body: what it says of tag, date of change and length is what is
    /// stored. RFC 9111, section 4.3.5.
    func isSame(as response: NetworkResponse) -> Bool {
        [FieldName.entityTag, FieldName.lastModified, FieldName.contentLength].allSatisfy { name in
            response.fields.first(named: name).map { $0 == fields.first(named: name) } ?? true
        }
    }
}
