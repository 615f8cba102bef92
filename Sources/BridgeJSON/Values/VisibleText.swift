/// Text from elsewhere, for a terminal or for a log, which people read in one.
///
/// This is the one list of characters that a terminal obeys, or that turn the direction of what it shows: whatever
/// writes to one asks here.
public enum VisibleText {
    /// The text with these characters shown as escapes, such as `\u{1B}`.
    ///
    /// - Parameter keepsLines: leaves line feeds and tabs as they are.
    public static func escaped(_ text: String, keepsLines: Bool = false) -> String {
        rewritten(text) { scalar in
            keepsLines && (scalar == "\n" || scalar == "\t") ? String(scalar) : scalar.escaped(asASCII: true)
        }
    }

    /// The text in one line: line feeds and tabs are spaces, the other characters are replaced by U+FFFD.
    public static func line(_ text: String) -> String {
        rewritten(text) { $0 == "\n" || $0 == "\t" ? " " : "\u{FFFD}" }
    }

    /// JSON text with these characters in the form `\u001b`: what it says is the same.
    public static func json(_ text: String) -> String {
        // What stands raw in JSON outside its strings is white space.
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

    /// Whether a terminal obeys the character, or it turns the direction of text.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0; DEL and C1.
        case 0..<0x20, 0x7F...0x9F: true
        // What sets the direction of text: marks, embeddings, overrides, isolates; between them what ends lines.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
