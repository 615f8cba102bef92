/// A scanner that reads a field's value from left to right: tokens, quoted strings, parameters (RFC 9110, section 5.6).
/// It does not move past text that does not fit. Each read takes linear time.
public struct FieldScanner {
    /// A name with a value, such as `q=0.5`: RFC 9110, section 5.6.6.
    public struct Parameter: Hashable, Sendable {
        /// The name, in lower case.
        public var name: String
        /// The value, without quotes.
        public var value: String

        /// Creates a parameter.
        ///
        /// - Parameters:
        ///   - name: The name, in lower case.
        ///   - value: The value, without quotes.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private let bytes: [UInt8]
    private var position = 0

    /// Creates a scanner at the beginning of a value.
    ///
    /// - Parameter value: The value, with one scalar for each byte.
    public init(_ value: some StringProtocol) { bytes = FieldText.bytes(value) }

    /// Whether the end is reached.
    public var isAtEnd: Bool { position == bytes.count }

    /// The text that has not been read.
    public var rest: String { FieldText.decode(bytes[position...]) }

    /// The next byte; `nil` at the end.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Skips spaces and tabs.
    public mutating func skipWhitespace() {
        while let byte = next, FieldText.isWhitespace(byte) { position += 1 }
    }

    /// Skips a character; returns false if the next one is another.
    ///
    /// - Parameter character: An ASCII character.
    public mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = next, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    /// Reads the bytes from here on that fulfil a condition.
    mutating func prefix(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let found = bytes[position...].prefix(while: condition)
        position = found.endIndex
        return found
    }

    /// Reads the token that begins here; `nil` if there is none: RFC 9110, section 5.6.2.
    public mutating func token() -> String? {
        let found = prefix(while: Self.isTokenByte)
        return found.isEmpty ? nil : FieldText.decode(found)
    }

    /// Reads the quoted string that begins here, and returns it without its quotes and escapes: RFC 9110, section
    /// 5.6.4. `nil` if there is none or it does not end; then nothing is read.
    public mutating func quotedString() -> String? {
        let start = position
        guard skip("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return FieldText.decode(text) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escaped = next else { break }
            position += 1
            text.append(escaped)
        }
        position = start
        return nil
    }

    /// Reads the token or quoted string that begins here; `nil` if there is none.
    public mutating func tokenOrQuotedString() -> String? {
        next == UInt8(ascii: "\"") ? quotedString() : token()
    }

    /// Reads the next parameter, after a semicolon: RFC 9110, section 5.6.6. `nil` if there are no more parameters, or
    /// the next text is no parameter.
    public mutating func parameter() -> Parameter? {
        while true {
            skipWhitespace()
            guard skip(";") else { return nil }
            skipWhitespace()
            guard let name = token() else { continue }
            guard skip("="), let value = tokenOrQuotedString() else { return nil }
            return Parameter(name: FieldText.lowercase(name), value: value)
        }
    }

    /// Returns the members of a list, without the spaces around them: RFC 9110, section 5.6.1. A comma in quotes does
    /// not separate members; unterminated quotes extend to the end of the value. Empty members are omitted.
    ///
    /// - Parameter value: The value of a list field.
    public static func members(of value: some StringProtocol) -> [String] {
        pieces(of: FieldText.bytes(value)).filter { !$0.isEmpty }.map { FieldText.decode($0) }
    }

    /// Returns the pieces between the commas outside quotes, without the spaces around them. Includes empty pieces.
    static func pieces(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        var isQuoted = false
        var isEscaped = false
        for (index, byte) in bytes.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if !isQuoted, byte == UInt8(ascii: ",") {
                pieces.append(FieldText.trim(bytes[start..<index]))
                start = index + 1
            }
        }
        return pieces + [FieldText.trim(bytes[start...])]
    }

    /// Returns whether a byte may be in a token: RFC 9110, section 5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Returns whether a byte is a digit.
    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
