import BridgeJSON

/// Source text that is the same in TypeScript and Python.
enum GeneratedText {
    /// The maximum width of a comment line in columns.
    private static let widestComment = 100

    /// Returns a string as a literal in double quotes. Both languages read JSON escapes in the same way. Characters
    /// that end a line or change the direction of text are escaped, too.
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

    /// Returns whether the character affects a terminal or has no width. All of these have at most four hexadecimal
    /// digits, and JSON has escaped those below the space.
    private static func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200B...0x200D, 0x2060...0x206F, 0xFEFF: true
        default: VisibleText.isHidden(scalar)
        }
    }

    /// Returns a text that fits on one line of a comment.
    static func line(_ text: String) -> String { PlainText.lines(text).joined(separator: " ") }

    /// Returns a note as comment lines: without control characters, wrapped between words.
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
    /// The text without spaces at its ends.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else {
            return ""
        }
        return String(self[first...last])
    }
}
