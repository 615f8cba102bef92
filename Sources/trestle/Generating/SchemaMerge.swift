import BridgeJSON

/// Combines schemas that must all be fulfilled.
enum SchemaMerge {
    /// Returns the keywords of both. If both contain a keyword, the second one's value counts, except for members,
    /// required names and `allOf`, which are combined.
    static func merged(_ first: JSONObject, _ second: JSONObject) -> JSONObject {
        var result = first
        for (key, value) in second {
            switch (key, result[key], value) {
            case ("properties", .object(let before), .object(let others)):
                result[key] = .object(others.reduce(into: before) { $0[$1.key] = $1.value })
            case ("required", .array(let before), .array(let others)):
                result[key] = .array(before + others.filter { !before.contains($0) })
            case ("allOf", .array(let before), .array(let others)): result[key] = .array(before + others)
            default: result[key] = value
            }
        }
        return result
    }

    /// Returns whether it describes the form of a value, apart from its alternatives.
    static func hasForm(_ schema: JSONObject) -> Bool {
        ["type", "properties", "required", "items", "prefixItems", "additionalProperties"]
            .contains { schema[$0] != nil }
    }

    /// Returns the target of a reference within the document (`#`, `#/$defs/name`); `nil` if there is none.
    static func target(of reference: String, in document: JSON) -> JSON? {
        JSONPointer(reference: reference).flatMap { document[$0] }
    }
}
