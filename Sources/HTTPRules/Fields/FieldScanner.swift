/// Reads a field's value from left to right: tokens, quoted strings, parameters (RFC 9110, section 5.6). Whatever does
/// not fit is left where it is, and every step forward is linear.
public struct FieldScanner {
    /// A name with a value, as `q=0.5` is one: RFC 9110, section 5.6.6.
    public struct Parameter: Hashable, Sendable {
        /// The name, in small letters.
        public var name: String
        /// The value, without quotes.
        public var value: String

        /// A parameter.
        ///
        /// - Parameters:
        ///   - name: The name, in small letters.
        ///   - value: The value, without quotes.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private let bytes: [UInt8]
    private var position = 0

    /// At the beginning of a value.
    ///
    /// - Parameter value: The value, each byte one scalar.
    public init(_ value: some StringProtocol) { bytes = FieldText.bytes(value) }

    /// Whether nothing is left.
    public var isAtEnd: Bool { position == bytes.count }

    /// What is left.
    public var rest: String { FieldText.decode(bytes[position...]) }

    /// The next byte; nil at the end.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Steps over spaces and tabs.
    public mutating func skipWhitespace() {
        while let byte = next, FieldText.isWhitespace(byte) { position += 1 }
    }

    /// Steps over a character; returns false where another comes.
    ///
    /// - Parameter character: An ASCII character.
    public mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = next, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    /// The bytes from here on that fulfil a condition.
    mutating func prefix(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let found = bytes[position...].prefix(while: condition)
        position = found.endIndex
        return found
    }

    /// The token that begins here: RFC 9110, section 5.6.2. Nil where none does.
    public mutating func token() -> String? {
        let found = prefix(while: Self.isTokenByte)
        return found.isEmpty ? nil : FieldText.decode(found)
    }

    /// The string in quotes that begins here, without its quotes and escapes: RFC 9110, section 5.6.4. Nil where none
    /// does or where it does not end; then nothing is read.
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

    /// The token or the string in quotes that begins here.
    public mutating func tokenOrQuotedString() -> String? {
        next == UInt8(ascii: "\"") ? quotedString() : token()
    }

    /// The next of the parameters from here on, each after a semicolon: RFC 9110, section 5.6.6. Nil where none comes
    /// any more, or something that is none.
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

    /// The members of a list, without the spaces around them: RFC 9110, section 5.6.1. A comma in quotes separates
    /// nothing; quotes that do not end reach to the end of the value. Empty members are left away.
    ///
    /// - Parameter value: The value of a list field.
    public static func members(of value: some StringProtocol) -> [String] {
        pieces(of: FieldText.bytes(value)).filter { !$0.isEmpty }.map { FieldText.decode($0) }
    }

    /// What stands between the commas that are in no quotes, empty pieces too, without the spaces around them.
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

    /// Whether a byte may be in a token: RFC 9110, section 5.6.2.
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

    /// Whether a byte is a digit.
    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
