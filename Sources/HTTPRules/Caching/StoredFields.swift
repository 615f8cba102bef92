/// The fields of a response that are stored: RFC 9111, section 3.1, and RFC 9110, section 7.6.1.
public enum StoredFields {
    /// The fields that concern one connection, in lower case.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    /// The fields that the caller and the store require. `Connection` must not name them, and cannot remove them.
    private static let needed: Set<String> = [
        "age", "cache-control", "content-encoding", "content-length", "content-range", "content-type", "date", "etag",
        "expires", "last-modified", "set-cookie", "strict-transport-security", "vary",
    ]

    /// Returns the fields without those that concern only one connection, and those that `Connection` names.
    ///
    /// - Parameter fields: The fields of a response, as received.
    public static func storable(of fields: HeaderList) -> HeaderList {
        let named = fields.members(named: FieldName.connection).map { FieldText.lowercase($0) }
        let excluded = hopByHop.union(Set(named).subtracting(needed))
        return HeaderList(fields.filter { !excluded.contains(FieldText.lowercase($0.name)) })
    }

    /// Returns stored fields after a response to a later request has confirmed them: RFC 9111, section 3.2. The fields
    /// of that response replace the stored ones, except fields that describe the stored bytes.
    ///
    /// - Parameters:
    ///   - fields: The stored fields.
    ///   - update: The fields of the later response, as received.
    static func updated(_ fields: HeaderList, by update: HeaderList) -> HeaderList {
        // The stored tag identifies the bytes. A later matching tag differs at most in its weakness.
        let kept: Set<String> = ["content-encoding", "content-length", "content-range", "content-type"]
        let hasTag = fields.contains(named: FieldName.entityTag)
        let added = storable(of: update).filter { field in
            let name = FieldText.lowercase(field.name)
            return !kept.contains(name) && !(hasTag && name == "etag")
        }
        let names = Set(added.map { FieldText.lowercase($0.name) })
        var result = fields
        result.removeAll { field in
            let name = FieldText.lowercase(field.name)
            // The stored `Age` is not valid after the confirmation.
            return names.contains(name) || name == "age"
        }
        result.append(contentsOf: HeaderList(added))
        return result
    }
}
