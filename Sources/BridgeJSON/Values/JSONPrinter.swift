/// Formats values for people: one member a line, and optionally in colour.
///
/// Characters that control a terminal, or that change the direction of the text, are written as escapes.
public struct JSONPrinter: Sendable {
    private let indent: Int
    private let colour: Bool

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - indent: the number of spaces for each level.
    ///   - colour: whether to use ANSI colours.
    public init(indent: Int = 2, colour: Bool = false) {
        self.indent = indent
        self.colour = colour
    }

    /// Returns the value as text, without a line end.
    public func print(_ value: JSON) -> String {
        var output = ""
        write(value, level: 0, to: &output)
        return output
    }

    private func write(_ value: JSON, level: Int, to output: inout String) {
        switch value {
        case .null, .bool: output += painted(value.text, "35")
        case .number: output += painted(value.text, "36")
        case .string(let string): output += painted(quoted(string), "32")
        case .array(let elements):
            writeList("[", "]", elements.count, level, to: &output) { index, output in
                write(elements[index], level: level + 1, to: &output)
            }
        case .object(let object):
            let members = Array(object)
            writeList("{", "}", members.count, level, to: &output) { index, output in
                output += painted(quoted(members[index].key), "34;1") + ": "
                write(members[index].value, level: level + 1, to: &output)
            }
        }
    }

    private func writeList(
        _ open: String, _ close: String, _ count: Int, _ level: Int, to output: inout String,
        _ item: (Int, inout String) -> Void
    ) {
        guard count > 0 else {
            output += open + close
            return
        }
        output += open
        for index in 0..<count {
            output += index == 0 ? "\n" : ",\n"
            output += String(repeating: " ", count: (level + 1) * indent)
            item(index, &output)
        }
        output += "\n" + String(repeating: " ", count: level * indent) + close
    }

    private func quoted(_ string: String) -> String { VisibleText.json(JSON.string(string).text) }

    private func painted(_ text: String, _ style: String) -> String {
        colour ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }
}
