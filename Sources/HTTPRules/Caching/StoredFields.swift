/// Which fields of a response are stored: RFC 9111, section 3.1, and RFC 9110, section 7.6.1.
public enum StoredFields {
    /// Fields that are about one connection, in small letters.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    /// Fields that are for whoever made the request, the rules of the store among them: `Connection` must not name
    /// them, and cannot take them away.
    private static let needed: Set<String> = [
        "age", "cache-control", "content-encoding", "content-length", "content-range", "content-type", "date", "etag",
        "expires", "last-modified", "set-cookie", "strict-transport-security", "vary",
    ]

    /// The fields without those that are about one connection alone, and those that `Connection` names.
    ///
    /// - Parameter fields: The fields of a response, as they came.
    public static func storable(of fields: HeaderList) -> HeaderList {
        let named = fields.members(named: FieldName.connection).map { FieldText.lowercase($0) }
        let excluded = hopByHop.union(Set(named).subtracting(needed))
        return HeaderList(fields.filter { !excluded.contains(FieldText.lowercase($0.name)) })
    }

    /// Stored fields after a response to a later request has confirmed them: RFC 9111, section 3.2. What that response
    /// has replaces what is stored, except fields that describe the stored bytes.
    ///
    /// - Parameters:
    ///   - fields: The stored fields.
    ///   - update: The fields of the later response, as they came.
    static func updated(_ fields: HeaderList, by update: HeaderList) -> HeaderList {
        // The tag is what the bytes were known by; a later one that fits is the same but for its weakness.
        let kept: Set<String> = ["content-encoding", "content-length", "content-range", "content-type"]
        let hasTag = fields.contains(named: FieldName.entityTag)
        let news = storable(of: update).filter { field in
            let name = FieldText.lowercase(field.name)
            return !kept.contains(name) && !(hasTag && name == "etag")
        }
        let names = Set(news.map { FieldText.lowercase($0.name) })
        var result = fields
        result.removeAll { field in
            let name = FieldText.lowercase(field.name)
            // The age in the response is over once the response is confirmed.
            return names.contains(name) || name == "age"
        }
        result.append(contentsOf: HeaderList(news))
        return result
    }
}
