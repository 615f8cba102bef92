import BridgeJSON

/// A JSON pattern. A string `<name>` represents a value, which is the same at each place of the name. The member `"…"`
/// of an object allows further members. A last item `"…"` of an array allows items between the others and after them.
struct VectorPattern {
    /// The values of the names.
    private(set) var values: [String: JSON] = [:]

    private static let more = "…"

    /// Returns the difference between a message and the pattern as a sentence; `nil` if they match. A name that occurs
    /// for the first time gets the value at its place.
    mutating func misfit(_ message: JSON, _ pattern: JSON) -> String? {
        var tried = values
        if let misfit = Self.misfit(message, pattern, "$", &tried) { return misfit }
        values = tried
        return nil
    }

    /// Returns a message with the values of its names. A name without a value stays unchanged.
    func filled(_ message: JSON) -> JSON {
        switch message {
        case .string(let text): Self.name(text).flatMap { values[$0] } ?? message
        case .array(let items): .array(items.map(filled))
        case .object(let members):
            .object(members.reduce(into: JSONObject()) { $0[$1.key] = filled($1.value) })
        default: message
        }
    }

    /// Returns a text with the values of its names, as JSON.
    func filled(text: String) -> String {
        values.reduce(text) { text, value in Self.replace("<\(value.key)>", in: text, by: value.value.text) }
    }

    private static func replace(_ part: String, in text: String, by other: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "<") {
            result += rest[..<start]
            rest = rest[start...]
            if rest.hasPrefix(part) {
                result += other
                rest = rest.dropFirst(part.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result + rest
    }

    private static func name(_ text: String) -> String? {
        text.count > 2 && text.hasPrefix("<") && text.hasSuffix(">") ? String(text.dropFirst().dropLast()) : nil
    }

    private static func misfit(
        _ value: JSON, _ pattern: JSON, _ path: String, _ values: inout [String: JSON]
    ) -> String? {
        switch (pattern, value) {
        case (.string(let text), _) where name(text) != nil:
            guard let name = name(text) else { return nil }
            if let known = values[name] { return known.text == value.text ? nil : differs(value, known, path) }
            values[name] = value
            return nil
        case (.object(let wanted), .object(let found)): return misfit(found, wanted, path, &values)
        case (.array(let wanted), .array(let found)): return misfit(found, wanted, path, &values)
        default: return pattern.text == value.text ? nil : differs(value, pattern, path)
        }
    }

    private static func misfit(
        _ found: JSONObject, _ wanted: JSONObject, _ path: String, _ values: inout [String: JSON]
    ) -> String? {
        for (key, pattern) in wanted where key != more {
            guard let value = found[key] else { return "\(path).\(key): expected \(pattern.text); got nothing" }
            if let misfit = misfit(value, pattern, "\(path).\(key)", &values) { return misfit }
        }
        guard wanted[more] == nil, let unknown = found.keys.first(where: { wanted[$0] == nil }) else { return nil }
        return "\(path).\(unknown): expected nothing; got \(found[unknown]?.text ?? "")"
    }

    private static func misfit(
        _ found: [JSON], _ wanted: [JSON], _ path: String, _ values: inout [String: JSON]
    ) -> String? {
        guard wanted.last == .string(more) else {
            guard found.count == wanted.count else {
                return "at \(path) \(wanted.count) items were expected, not \(found.count)"
            }
            for (index, pair) in zip(found, wanted).enumerated() {
                if let misfit = misfit(pair.0, pair.1, "\(path)[\(index)]", &values) { return misfit }
            }
            return nil
        }
        var rest = found[...]
        for pattern in wanted.dropLast() {
            var tried = values
            let index = rest.firstIndex { item in
                tried = values
                return misfit(item, pattern, path, &tried) == nil
            }
            guard let index else { return "\(path): expected an element \(pattern.text); got none" }
            values = tried
            rest = rest[(index + 1)...]
        }
        return nil
    }

    private static func differs(_ value: JSON, _ expected: JSON, _ path: String) -> String {
        "\(path): expected \(expected.text); got \(value.text)"
    }
}
