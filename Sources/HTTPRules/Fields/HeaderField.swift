/// One checked header field: its name is a token, and its value has no byte that would end the line.
public struct HeaderField: Hashable, Sendable {
    /// The name, in its received form. Names are compared without case: ``isNamed(_:)``.
    public let name: String
    /// The value, with one scalar for each byte, without spaces and tabs at its ends.
    public let value: String

    /// Creates a field; `nil` if the name or the value is not allowed.
    ///
    /// - Parameters:
    ///   - name: A token: RFC 9110, section 5.1.
    ///   - value: The value, without CR, LF and NUL, with scalars up to U+00FF: RFC 9110, section 5.5. Spaces and tabs
    ///     at its ends are removed.
    public init?(name: String, value: String) {
        guard Self.isName(name), Self.isValue(value) else { return nil }
        self.init(trusted: name, Self.trimmed(value))
    }

    /// Parses a line of HTTP/1.1, with or without its line end; `nil` if the line is no field. RFC 9112, section 5: no
    /// space is allowed between name and colon, and a line that begins with a space continues no other line.
    ///
    /// - Parameter line: The bytes of the line.
    public init?(line: [UInt8]) {
        var bytes = line[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        self.init(
            name: FieldText.decode(bytes[..<colon]), value: FieldText.decode(FieldText.trim(bytes[(colon + 1)...])))
    }

    /// Creates a field from text of this module, without checks.
    init(trusted name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Returns whether the field has this name, in any case.
    ///
    /// - Parameter other: The name.
    public func isNamed(_ other: String) -> Bool { FieldText.isSame(name, other) }

    /// Returns whether a text is a token, as names of fields are: RFC 9110, sections 5.1 and 5.6.2.
    ///
    /// - Parameter text: The text.
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(FieldScanner.isTokenByte)
    }

    /// Returns whether a text may be the value of a field: RFC 9110, section 5.5.
    ///
    /// - Parameter text: The text.
    public static func isValue(_ text: String) -> Bool {
        // In UTF-8, scalars above U+00FF begin with a byte of 0xC4 or more.
        text.utf8.allSatisfy { $0 < 0xC4 && $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }

    /// The length of the field in HTTP/1.1 in bytes, with colon, space and line end.
    public var byteCount: Int { FieldText.byteCount(name) + FieldText.byteCount(value) + 4 }

    private static func trimmed(_ value: String) -> String {
        guard let first = value.utf8.first, let last = value.utf8.last else { return value }
        if !FieldText.isWhitespace(first), !FieldText.isWhitespace(last) { return value }
        return FieldText.decode(FieldText.trim(FieldText.bytes(value)[...]))
    }
}
