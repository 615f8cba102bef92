import BridgeJSON

/// A message in the notation of the examples: JSON in which `<name>` represents a value that differs between runs, and
/// `…` represents members or items that are not shown.
struct Pattern {
    /// The values of the names.
    typealias Values = [String: JSON]

    private let json: JSON

    /// The prefix of names in the strings of the pattern's own JSON, and the mark for omitted parts.
    private static let mark = "\u{1}"
    private static let more = "\u{1}…"

    init(_ text: String) throws {
        var output = ""
        var rest = text[...]
        Self.scan(&rest, into: &output) { name in JSON.string(Self.mark + name).text }
        json = try JSON(parsing: output)
    }

    /// Returns the text of a message to send, with every name replaced by its value.
    ///
    /// - Returns: `nil` if a name has no value yet.
    static func fill(_ text: String, _ values: Values) -> String? {
        var output = ""
        var rest = text[...]
        var isComplete = true
        scan(&rest, into: &output) { name in
            if let value = values[name] { return value.text }
            isComplete = false
            return ""
        }
        return isComplete ? output : nil
    }

    /// Whether the message matches the pattern. A name that occurs for the first time gets the value at its position.
    func matches(_ message: JSON, _ values: inout Values) -> Bool { Self.matches(json, message, &values) }

    private static func matches(_ pattern: JSON, _ value: JSON, _ values: inout Values) -> Bool {
        switch (pattern, value) {
        case (.string(let text), _) where text.hasPrefix(mark):
            let name = String(text.dropFirst())
            if let known = values[name] { return known.text == value.text }
            values[name] = value
            return true
        case (.object(let members), .object(let found)):
            let shown = members.filter { $0.key != more }
            guard shown.count < members.count || shown.count == found.count else { return false }
            return shown.allSatisfy { key, member in found[key].map { matches(member, $0, &values) } ?? false }
        case (.array(let items), .array(let found)):
            return matches(items[...], found[...], &values)
        default:
            return pattern.text == value.text
        }
    }

    /// Compares items in their order. If the last item is `…`, other items may occur between them and after them.
    private static func matches(_ items: ArraySlice<JSON>, _ found: ArraySlice<JSON>, _ values: inout Values) -> Bool {
        guard items.last == .string(more) else {
            return items.count == found.count && zip(items, found).allSatisfy { matches($0, $1, &values) }
        }
        var rest = found
        for item in items.dropLast() {
            var tried = values
            let place = rest.firstIndex { candidate in
                tried = values
                return matches(item, candidate, &tried)
            }
            guard let place else { return false }
            values = tried
            rest = rest[(place + 1)...]
        }
        return true
    }

    /// Copies a text. Passes names outside of strings to `replace`, and converts `…` to JSON.
    private static func scan(_ rest: inout Substring, into output: inout String, _ replace: (String) -> String) {
        var isInString = false
        while let character = rest.popFirst() {
            switch character {
            case "\\" where isInString:
                output.append(character)
                if let escaped = rest.popFirst() { output.append(escaped) }
            case "\"":
                isInString.toggle()
                output.append(character)
            case "<" where !isInString:
                let name = rest.prefix { $0 != ">" }
                rest = rest.dropFirst(name.count + 1)
                output += replace(String(name))
            case "…" where !isInString:
                let isMember = rest.first { $0 != " " } == "}"
                output += JSON.string(more).text + (isMember ? ":0" : "")
            default:
                output.append(character)
            }
        }
    }
}
