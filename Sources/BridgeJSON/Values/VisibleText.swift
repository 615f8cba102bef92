/// Makes text from other programs safe to display in a terminal, also when it is read from a log.
///
/// This is the only list of characters that control a terminal, or that change the direction of its text. All code that
/// writes to a terminal uses it.
public enum VisibleText {
    /// Returns the text with these characters as escapes, such as `\u{1B}`.
    ///
    /// - Parameter keepsLines: whether line feeds and tabs stay unchanged.
    public static func escaped(_ text: String, keepsLines: Bool = false) -> String {
        rewritten(text) { scalar in
            keepsLines && (scalar == "\n" || scalar == "\t") ? String(scalar) : scalar.escaped(asASCII: true)
        }
    }

    /// Returns the text in one line: line feeds and tabs become spaces, the other such characters U+FFFD.
    public static func line(_ text: String) -> String {
        rewritten(text) { $0 == "\n" || $0 == "\t" ? " " : "\u{FFFD}" }
    }

    /// Returns JSON text with these characters in the form `\u001b`; its meaning does not change.
    public static func json(_ text: String) -> String {
        // Raw characters of this kind outside of JSON strings are white space.
        rewritten(text) { scalar in
            if scalar.value < 0x20 { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    private static func rewritten(_ text: String, _ show: (Unicode.Scalar) -> String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        return text.unicodeScalars.reduce(into: "") { output, scalar in
            if isHidden(scalar) { output += show(scalar) } else { output.unicodeScalars.append(scalar) }
        }
    }

    /// Whether the character controls a terminal or changes the direction of text.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0; DEL and C1.
        case 0..<0x20, 0x7F...0x9F: true
        // Characters that set the direction of text: marks, embeddings, overrides, isolates. Between them: line
        // separators.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
