import BridgeJSON

/// Descriptions of a plugin's schema for documents.
enum PluginSchema {
    /// Returns the form of a schema's values, in a few words.
    static func described(_ schema: JSON) -> String {
        if let words = schema["enum"]?.arrayValue { return words.map { toml($0) ?? $0.text }.joined(separator: ", ") }
        let type = schema["type"]?.stringValue
        if type == "array", let items = schema["items"] { return "array of \(described(items))" }
        let name =
            switch type {
            case "string": "text"
            case "integer": "whole number"
            case "boolean": "true or false"
            case "object": "table"
            case let other?: other
            case nil: "anything"
            }
        return range(schema).map { "\(name), \($0)" } ?? name
    }

    private static func range(_ schema: JSON) -> String? {
        switch (schema["minimum"], schema["maximum"]) {
        case (let minimum?, let maximum?): "\(minimum.text) to \(maximum.text)"
        case (let minimum?, nil): "at least \(minimum.text)"
        case (nil, let maximum?): "at most \(maximum.text)"
        case (nil, nil): nil
        }
    }

    /// Returns a JSON value as TOML on one line; `nil` for null, which TOML does not have.
    static func toml(_ value: JSON) -> String? {
        switch value {
        case .null: nil
        case .bool, .number: value.text
        case .string(let text): TOMLText.quoted(text)
        case .array(let items): "[" + items.compactMap(toml).joined(separator: ", ") + "]"
        case .object(let members):
            "{ "
                + members.compactMap { member in toml(member.value).map { "\(TOMLText.key(member.key)) = \($0)" } }
                .joined(separator: ", ") + " }"
        }
    }
}

extension JSON {
    /// The schema without null, which optional members may be in JSON.
    var withoutNull: JSON {
        switch self {
        case .object(let members):
            var object = JSONObject()
            for (key, value) in members {
                switch (key, value) {
                case ("type", .array(let types)):
                    let others = types.filter { $0 != "null" }
                    object[key] = others.count == 1 ? others[0] : .array(others)
                case ("enum", .array(let values)): object[key] = .array(values.filter { $0 != .null })
                // These values are kept unchanged, even if they look like a schema.
                case ("default", _), ("const", _), ("examples", _): object[key] = value
                default: object[key] = value.withoutNull
                }
            }
            return .object(object)
        case .array(let items): return .array(items.map(\.withoutNull))
        default: return self
        }
    }
}
