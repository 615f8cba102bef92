/// Functions on the bytes of cookies.
enum CookieBytes {
    /// Returns the bytes without spaces and tabs at both ends.
    ///
    /// - Parameter bytes: The bytes.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return bytes[first...last]
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Returns whether the bytes contain a control character other than the tab.
    ///
    /// - Parameter bytes: The bytes.
    static func hasControl(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.contains { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7F }
    }

    /// Returns the text with one scalar for each byte, U+0000 to U+00FF, so nothing is lost.
    ///
    /// - Parameter bytes: The bytes.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }

    /// Returns the bytes of such a text; `nil` if a scalar is above U+00FF.
    ///
    /// - Parameter text: The text.
    static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
