/// A JSON number: its text, so that no digit is lost on the way. Two numbers are equal when their texts are.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number as JSON writes it.
    public let text: String

    /// A number from its text; nil where that is none of JSON's grammar.
    public init?(text: String) {
        guard Self.isNumber(text) else { return nil }
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
        T(text) ?? wholeDigits.flatMap { T($0) }
    }

    /// The digits of an integer, with its sign, that is written with a fraction or an exponent; nil where the number is
    /// no integer, or one with more digits than any type of the machine holds. By way of the digits and not of a
    /// double, which would round.
    private var wholeDigits: String? {
        let parts = text.utf8.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        let significand = parts[0].drop { $0 == UInt8(ascii: "-") }
        let point = significand.firstIndex(of: UInt8(ascii: "."))
        let fractionCount = point.map { significand.distance(from: $0, to: significand.endIndex) - 1 } ?? 0
        var digits = significand.filter { $0 != UInt8(ascii: ".") }.drop { $0 == UInt8(ascii: "0") }
        guard !digits.isEmpty else { return "0" }
        var exponent = -fractionCount
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        // An exponent that does not fit makes any other number than 0 too large, or too small.
        guard let written = parts.count > 1 ? Int(String(decoding: parts[1], as: UTF8.self)) : 0 else { return nil }
        let (zeroCount, overflow) = exponent.addingReportingOverflow(written)
        guard !overflow, zeroCount >= 0, zeroCount <= Self.maximumDigits - min(digits.count, Self.maximumDigits) else {
            return nil
        }
        let sign = text.utf8.first == UInt8(ascii: "-") ? "-" : ""
        return sign + String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: zeroCount)
    }

    /// As many as 128 bits need.
    private static let maximumDigits = 39

    private static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var scan = NumberScan()
            return scan.end(in: UnsafeRawBufferPointer(bytes), from: 0) == bytes.count && scan.isWhole
        }
    }
}
