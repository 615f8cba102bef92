/// Conversion of the bytes of header fields to text and back. Each byte is one scalar, U+0000 to U+00FF, so nothing is
/// lost. These are the "isomorphic" conversions of the Infra standard.
public enum FieldText {
    /// Returns the text whose scalars are these bytes.
    ///
    /// - Parameter bytes: Any bytes.
    @inlinable public static func decode(_ bytes: some Collection<UInt8>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        var scalars = String.UnicodeScalarView()
        for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }

    /// Returns the bytes of a text; `nil` if one of its scalars is not a byte.
    ///
    /// - Parameter text: A result of ``decode(_:)``, or any text.
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

    /// Returns the number of bytes of a text: the number of its scalars. UTF-8 continuation bytes do not count.
    static func byteCount(_ text: String) -> Int { text.utf8.count { $0 & 0xC0 != 0x80 } }

    /// Returns the bytes of a text for a grammar. A scalar above one byte becomes NUL, which no grammar here accepts.
    static func bytes(_ text: some StringProtocol) -> [UInt8] {
        var text = String(text)
        return text.withUTF8 { utf8 in
            if utf8.allSatisfy({ $0 < 0x80 }) { return Array(utf8) }
            return String(decoding: utf8, as: UTF8.self).unicodeScalars.map { UInt8(exactly: $0.value) ?? 0 }
        }
    }

    /// Returns a text with its ASCII letters in lower case and all else unchanged.
    static func lowercase(_ text: some StringProtocol) -> String {
        if !text.utf8.contains(where: isCapital) { return String(text) }
        return decode(bytes(text).map(lowercase))
    }

    /// Returns whether two texts are equal except for the case of ASCII letters.
    static func isSame(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        let bytes = one.utf8.span
        let others = other.utf8.span
        for index in bytes.indices where lowercase(bytes[index]) != lowercase(others[index]) { return false }
        return true
    }

    /// Returns an ASCII letter in lower case, and every other byte unchanged.
    static func lowercase(_ byte: UInt8) -> UInt8 { isCapital(byte) ? byte | 0x20 : byte }

    private static func isCapital(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5A }

    /// Returns whether a byte is a space or a horizontal tab: RFC 9110, section 5.6.3.
    static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns bytes without the spaces and tabs at both ends.
    static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, isWhitespace(first) { bytes.removeFirst() }
        while let last = bytes.last, isWhitespace(last) { bytes.removeLast() }
        return bytes
    }
}
