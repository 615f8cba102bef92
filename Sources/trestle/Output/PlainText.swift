import BridgeJSON

/// Text of other users, made harmless for a terminal.
enum PlainText {
    /// Returns the text on one line, without control characters, which could move the cursor or do worse.
    static func line(_ text: String) -> String { VisibleText.line(text) }

    /// Returns the lines of the text, without control characters.
    static func lines(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line(String($0)) }
    }

    /// Returns the width of the text in terminal columns: two for wide East Asian characters and for emoji.
    static func width(_ text: String) -> Int {
        text.reduce(0) { sum, character in
            guard let scalar = character.unicodeScalars.first else { return sum }
            return sum + (isWide(scalar.value) ? 2 : 1)
        }
    }

    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// Cuts the text to a number of columns.
    static func cut(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        var result = ""
        var used = 1
        for character in text {
            used += width(String(character))
            if used > columns { break }
            result.append(character)
        }
        return result + "…"
    }

    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    /// Aligns the text to the right in a number of columns.
    static func padded(before text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - width(text))) + text
    }
}
