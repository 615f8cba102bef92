import BridgeJSON

/// A JSON Schema as a list of members, for people: name, valid values, description.
struct SchemaPage {
    /// A member, or a nested member.
    struct Line: Equatable {
        var depth: Int
        var name: String
        var words: String
        var note: String
    }

    /// The maximum depth of nested members; a schema that refers to itself would have no end.
    private static let greatestDepth = 4
    /// The maximum number of alternatives in a description, each of which may have the same number.
    private static let maximumAlternatives = 16
    /// The maximum work for a page: the bytes that it shows, plus a fixed amount for each visited schema. Members whose
    /// alternatives refer back to them multiply to the number of alternatives to the power of the depth.
    private static let maximumWork = 1 << 20
    private static let workOfSchema = 32

    private let document: JSON
    private var workLeft = Self.maximumWork

    private init(_ document: JSON) { self.document = document }

    /// Returns the members of a schema; empty if it declares none. If there are more than fit on a page, the last line
    /// states this.
    static func lines(_ schema: JSON) -> [Line] {
        var page = SchemaPage(schema)
        var lines: [Line] = []
        page.addMembers(of: page.resolved(schema), depth: 0, to: &lines)
        if page.workLeft <= 0 { lines.append(Line(depth: 0, name: "…", words: "more than a page shows", note: "")) }
        return lines
    }

    /// Describes the valid values in a few words.
    static func words(_ schema: JSON) -> String {
        var page = SchemaPage(schema)
        return page.words(schema)
    }

    /// Describes the valid values of a part. Any client can supply a schema, so its text is made safe for a terminal
    /// here.
    private mutating func words(_ schema: JSON) -> String { PlainText.line(words(schema, depth: 0)) }

    private mutating func addMembers(of schema: JSON, depth: Int, to lines: inout [Line]) {
        workLeft -= Self.workOfSchema
        guard depth < Self.greatestDepth, let properties = schema["properties"]?.objectValue else { return }
        let required = Set((schema["required"]?.arrayValue ?? []).compactMap(\.stringValue).map { ExactText($0) })
        for (key, member) in properties {
            guard workLeft > 0 else { return }
            let note = note(member, isRequired: required.contains(ExactText(key)))
            let line = Line(depth: depth, name: key, words: words(member), note: note)
            workLeft -= key.utf8.count + line.words.utf8.count + note.utf8.count
            lines.append(line)
            addParts(of: resolved(member), depth: depth + 1, to: &lines)
        }
    }

    /// Adds the nested members of a member: of an object, or of the objects of an array.
    private mutating func addParts(of schema: JSON, depth: Int, to lines: inout [Line]) {
        if let items = schema["items"] { return addMembers(of: resolved(items), depth: depth, to: &lines) }
        addMembers(of: schema, depth: depth, to: &lines)
        for alternative in (schema["anyOf"] ?? schema["oneOf"])?.arrayValue ?? [] {
            guard workLeft > 0 else { return }
            addMembers(of: resolved(alternative), depth: depth, to: &lines)
        }
    }

    private func note(_ schema: JSON, isRequired: Bool) -> String {
        var parts = isRequired ? ["required"] : []
        if let value = schema["default"] { parts.append("default \(PlainText.line(value.text))") }
        if let text = schema["description"]?.stringValue { parts.append(PlainText.line(text)) }
        return parts.joined(separator: "; ")
    }

    private mutating func words(_ schema: JSON, depth: Int) -> String {
        workLeft -= Self.workOfSchema
        guard depth < Self.greatestDepth, workLeft > 0 else { return "…" }
        let schema = resolved(schema)
        if let names = schema["enum"]?.arrayValue {
            let words = names.filter { $0 != .null }.map { $0.stringValue ?? $0.text }.joined(separator: " | ")
            // Counted here too: if several alternatives refer to it, it is read once for each.
            workLeft -= words.utf8.count
            return words
        }
        if let value = schema["const"] {
            let text = value.text
            workLeft -= text.utf8.count
            return text
        }
        if let choice = (schema["anyOf"] ?? schema["oneOf"])?.arrayValue {
            var named: [String] = []
            for alternative in choice.prefix(Self.maximumAlternatives) {
                named.append(words(alternative, depth: depth + 1))
            }
            return unique(named + (choice.count > named.count ? ["…"] : [])).joined(separator: " or ")
        }
        let types = (schema["type"]?.arrayValue ?? schema["type"].map { [$0] } ?? []).prefix(Self.maximumAlternatives)
            .compactMap(\.stringValue)
        var named: [String] = []
        for type in unique(types) where type != "null" || types.count == 1 { named.append(kind(type, schema, depth)) }
        return named.isEmpty ? "anything" : named.joined(separator: " or ")
    }

    private mutating func kind(_ type: String, _ schema: JSON, _ depth: Int) -> String {
        switch type {
        case "array": return schema["items"].map { "array of \(words($0, depth: depth + 1))" } ?? "array"
        case "integer", "number": return type + range(schema["minimum"], schema["maximum"])
        case "boolean": return "true or false"
        case "object": return schema["properties"] == nil ? table(schema, depth) : "object"
        default: return type
        }
    }

    private mutating func table(_ schema: JSON, _ depth: Int) -> String {
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

    /// Returns the schema to which another one refers within the document, or the schema itself.
    private func resolved(_ schema: JSON) -> JSON {
        schema["$ref"]?.stringValue.flatMap(JSONPointer.init(reference:)).flatMap { document[$0] } ?? schema
    }

    private func unique(_ words: [String]) -> [String] {
        words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
