import BridgeJSON

/// Schemas that hold together, as one.
enum SchemaMerge {
    /// The members of both. What both say of one thing is what the second says.
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

    /// Whether it says anything of a value's form beside the choices in it.
    static func hasForm(_ schema: JSONObject) -> Bool {
        ["type", "properties", "required", "items", "prefixItems", "additionalProperties"]
            .contains { schema[$0] != nil }
    }

    /// What a reference within the document leads to: `#`, `#/$defs/name`.
    static func target(of reference: String, in document: JSON) -> JSON? {
        JSONPointer(reference: reference).flatMap { document[$0] }
    }
}
