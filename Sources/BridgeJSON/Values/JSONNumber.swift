/// A JSON number: its text, so that no digit is lost on the way. Two numbers are equal when their texts are.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number as JSON writes it.
    public let text: String

    /// A number from its text; nil where that is none of JSON's grammar.
    public init?(text: String) {
        guard Self.isNumber(text.utf8) else { return nil }
        self.text = text
    }

    /// A text whose grammar has been checked.
    init(checked text: String) { self.text = text }

    /// An integer.
    public init(_ value: some BinaryInteger) { text = String(value) }

    /// The shortest text that reads back as this value; nil where it is not finite.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value.description
    }

    /// The text.
    public var description: String { text }

    /// The integer, also of a text such as `1.0` or `2e3`; nil where 64 bits do not hold it exactly.
    public var int64: Int64? { integer() }

    /// The integer, where unsigned 64 bits hold it exactly.
    public var uint64: UInt64? { integer() }

    /// The number rounded to the nearest double; infinite where it is beyond all of them.
    public var double: Double {
        // The grammar of JSON is part of what Double reads.
        Double(text) ?? .nan
    }

    /// The integer, where the type holds it exactly.
    public func integer<T: FixedWidthInteger>(as type: T.Type = T.self) -> T? {
        if let integer = T(text) { return integer }
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) else {
            return nil
        }
        return T(exactly: double)
    }

    static func isNumber(_ bytes: some Collection<UInt8>) -> Bool {
        var scan = NumberScan()
        for byte in bytes where !scan.take(byte) { return false }
        return scan.isWhole
    }
}

/// The grammar of a number, byte by byte: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
struct NumberScan {
    private enum State {
        case start, minus, zero, integer, point, fraction, exponent, sign, digits
    }

    private var state = State.start

    /// Whether what was taken is a number.
    var isWhole: Bool { state == .zero || state == .integer || state == .fraction || state == .digits }

    /// Takes the next byte; false where no number goes on so.
    mutating func take(_ byte: UInt8) -> Bool {
        let isDigit = byte &- UInt8(ascii: "0") < 10
        switch (state, byte) {
        case (.start, UInt8(ascii: "-")): state = .minus
        case (.start, UInt8(ascii: "0")), (.minus, UInt8(ascii: "0")): state = .zero
        case (.start, _) where isDigit, (.minus, _) where isDigit, (.integer, _) where isDigit: state = .integer
        case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): state = .point
        case (.point, _) where isDigit, (.fraction, _) where isDigit: state = .fraction
        case (.zero, UInt8(ascii: "e")), (.zero, UInt8(ascii: "E")), (.integer, UInt8(ascii: "e")),
            (.integer, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "E")):
            state = .exponent
        case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): state = .sign
        case (.exponent, _) where isDigit, (.sign, _) where isDigit, (.digits, _) where isDigit: state = .digits
        default: return false
        }
        return true
    }
}
