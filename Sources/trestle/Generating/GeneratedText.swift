import BridgeJSON

/// Pieces of source text that are the same in TypeScript and Python.
enum GeneratedText {
    /// Columns that a comment's line takes up at most.
    private static let widestComment = 100

    /// A string as a literal in double quotes. What JSON escapes, both languages read in the same way; what would end a
    /// line or turn the direction of text is escaped as well.
    static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in JSON.string(text).text.unicodeScalars {
            if mustBeEscaped(scalar) {
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// What a terminal would obey, and what has no width. All of these have at most four digits: JSON has escaped those
    /// below a space.
    private static func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200B...0x200D, 0x2060...0x206F, 0xFEFF: true
        default: VisibleText.isHidden(scalar)
        }
    }

    /// A text that stays in its line of a comment.
    static func line(_ text: String) -> String { PlainText.lines(text).joined(separator: " ") }

    /// A note as lines that fit into a comment: without control characters, broken between words.
    static func lines(_ note: String) -> [String] {
        let lines = PlainText.lines(note).map { $0.trimmed }
        guard let first = lines.firstIndex(where: { !$0.isEmpty }), let last = lines.lastIndex(where: { !$0.isEmpty })
        else { return [] }
        return lines[first...last].flatMap(broken)
    }

    private static func broken(_ line: String) -> [String] {
        var lines = [""]
        for word in line.split(separator: " ") {
            let last = lines.count - 1
            if !lines[last].isEmpty, PlainText.width(lines[last]) + 1 + PlainText.width(String(word)) > widestComment {
                lines.append(String(word))
            } else {
                lines[last] += (lines[last].isEmpty ? "" : " ") + word
            }
        }
        return lines
    }
}

extension String {
    /// Without the spaces at its ends.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else {
            return ""
        }
        return String(self[first...last])
    }
}
