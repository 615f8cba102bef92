/// Bytes of header fields as text, and back: each byte is one scalar, U+0000 to U+00FF, so that nothing is lost.
/// These are the "isomorphic" conversions of the Infra standard.
public enum FieldText {
    /// The text whose scalars are these bytes.
    ///
    /// - Parameter bytes: Any bytes.
    @inlinable public static func decode(_ bytes: some Collection<UInt8>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        var scalars = String.UnicodeScalarView()
        for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }

    /// The bytes of a text; nil where a scalar of it is no byte.
    ///
    /// - Parameter text: What ``decode(_:)`` made, or any text.
    public static func encode(_ text: String) -> [UInt8]? {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return Array(text.utf8) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// How many bytes a text is: its scalars, whose other bytes in UTF-8 continue one.
    static func byteCount(_ text: String) -> Int { text.utf8.count { $0 & 0xC0 != 0x80 } }

    /// The bytes of a text, for a grammar to read: a scalar that is no byte becomes NUL, which no grammar here takes.
    static func bytes(_ text: some StringProtocol) -> [UInt8] {
        var text = String(text)
        return text.withUTF8 { utf8 in
            if utf8.allSatisfy({ $0 < 0x80 }) { return Array(utf8) }
            return String(decoding: utf8, as: UTF8.self).unicodeScalars.map { UInt8(exactly: $0.value) ?? 0 }
        }
    }

    /// A text with its ASCII letters made small, and nothing else changed.
    static func lowercase(_ text: some StringProtocol) -> String {
        if !text.utf8.contains(where: isCapital) { return String(text) }
        return decode(bytes(text).map(lowercase))
    }

    /// Whether two texts are equal but for the case of ASCII letters.
    static func isSame(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        let bytes = one.utf8.span
        let others = other.utf8.span
        for index in bytes.indices where lowercase(bytes[index]) != lowercase(others[index]) { return false }
        return true
    }

    /// An ASCII letter made small; every other byte as it is.
    static func lowercase(_ byte: UInt8) -> UInt8 { isCapital(byte) ? byte | 0x20 : byte }

    private static func isCapital(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5A }

    /// Whether a byte is a space or a horizontal tab: RFC 9110, section 5.6.3.
    static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Bytes without the spaces and tabs at their ends.
    static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, isWhitespace(first) { bytes.removeFirst() }
        while let last = bytes.last, isWhitespace(last) { bytes.removeLast() }
        return bytes
    }
}
