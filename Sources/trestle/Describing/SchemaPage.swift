import BridgeJSON

/// A JSON Schema as a list of members, for people: name, what may stand there, what it means.
struct SchemaPage {
    /// A member, or an element of one.
    struct Line: Equatable {
        var depth: Int
        var name: String
        var words: String
        var note: String
    }

    /// Members of members, so deep; a schema that refers to itself would have no end.
    private static let greatestDepth = 4
    /// Alternatives that words name at most, each of which may have as many.
    private static let mostAlternatives = 16

    private let document: JSON

    init(_ schema: JSON) { document = schema }

    /// The members; empty where the schema names none.
    var lines: [Line] { members(of: resolved(document), depth: 0) }

    /// What may stand there, in a few words.
    var words: String { words(document) }

    /// The same of a part. A description is any client's: only here does what it says become a line for a terminal.
    private func words(_ schema: JSON) -> String { PlainText.line(words(schema, depth: 0)) }

    private func members(of schema: JSON, depth: Int) -> [Line] {
        guard depth < Self.greatestDepth, let properties = schema["properties"]?.objectValue else { return [] }
        let required = schema["required"]?.arrayValue ?? []
        return properties.flatMap { key, member -> [Line] in
            let line = Line(
                depth: depth, name: key, words: words(member),
                note: note(member, isRequired: required.contains(.string(key))))
            return [line] + parts(of: resolved(member), depth: depth + 1)
        }
    }

    /// What is in a member: the members of an object, or of the objects of an array.
    private func parts(of schema: JSON, depth: Int) -> [Line] {
        if let items = schema["items"] { return members(of: resolved(items), depth: depth) }
        let alternatives = (schema["anyOf"] ?? schema["oneOf"])?.arrayValue ?? []
        return members(of: schema, depth: depth) + alternatives.flatMap { members(of: resolved($0), depth: depth) }
    }

    private func note(_ schema: JSON, isRequired: Bool) -> String {
        var parts = isRequired ? ["required"] : []
        if let value = schema["default"] { parts.append("default \(PlainText.line(value.text))") }
        if let text = schema["description"]?.stringValue { parts.append(PlainText.line(text)) }
        return parts.joined(separator: "; ")
    }

    private func words(_ schema: JSON, depth: Int) -> String {
        guard depth < Self.greatestDepth else { return "…" }
        let schema = resolved(schema)
        if let names = schema["enum"]?.arrayValue {
            return names.filter { $0 != .null }.map { $0.stringValue ?? $0.text }.joined(separator: " | ")
        }
        if let value = schema["const"] { return value.text }
        if let choice = (schema["anyOf"] ?? schema["oneOf"])?.arrayValue {
            let named = choice.prefix(Self.mostAlternatives).map { words($0, depth: depth + 1) }
            return unique(named + (choice.count > named.count ? ["…"] : [])).joined(separator: " or ")
        }
        let types = (schema["type"]?.arrayValue ?? schema["type"].map { [$0] } ?? []).compactMap(\.stringValue)
        let named = unique(types).filter { $0 != "null" || types.count == 1 }.map { kind($0, schema, depth) }
        return named.isEmpty ? "anything" : named.joined(separator: " or ")
    }

    private func kind(_ type: String, _ schema: JSON, _ depth: Int) -> String {
        switch type {
        case "array": schema["items"].map { "array of \(words($0, depth: depth + 1))" } ?? "array"
        case "integer", "number": type + range(schema["minimum"], schema["maximum"])
        case "boolean": "true or false"
        case "object": schema["properties"] == nil ? table(schema, depth) : "object"
        default: type
        }
    }

    private func table(_ schema: JSON, _ depth: Int) -> String {
        guard let values = schema["additionalProperties"], values.objectValue != nil else { return "object" }
        return "object of \(words(values, depth: depth + 1))"
    }

    private func range(_ minimum: JSON?, _ maximum: JSON?) -> String {
        switch (minimum, maximum) {
        case (let minimum?, let maximum?): " from \(minimum.text) to \(maximum.text)"
        case (let minimum?, nil): " of at least \(minimum.text)"
        case (nil, let maximum?): " of at most \(maximum.text)"
        case (nil, nil): ""
        }
    }

    /// The schema that another refers to, within the document.
    private func resolved(_ schema: JSON) -> JSON {
        guard let pointer = schema["$ref"]?.stringValue, pointer.hasPrefix("#/") else { return schema }
        return pointer.dropFirst(2).split(separator: "/").reduce(document) { $0?[String($1)] } ?? schema
    }

    private func unique(_ words: [String]) -> [String] {
        words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
