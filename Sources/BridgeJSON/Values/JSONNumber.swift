/// A JSON number, stored as its text, so that no digit is lost. Two numbers are equal if their texts are equal.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number as written in JSON.
    public let text: String

    /// Creates a number from its text; nil if the text does not match JSON's grammar.
    public init?(text: String) {
        guard Self.isNumber(text) else { return nil }
        self.text = text
    }

    /// Creates a number from a text whose grammar has been checked.
    init(checked text: String) { self.text = text }

    /// Creates a number from an integer.
    public init(_ value: some BinaryInteger) { text = String(value) }

    /// Creates the number with the shortest text that reads back as this value; nil if the value is not finite.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value.description
    }

    /// The text.
    public var description: String { text }

    /// The integer, also for a text such as `1.0` or `2e3`; nil if 64 bits do not hold it exactly.
    public var int64: Int64? { integer() }

    /// The integer; nil if unsigned 64 bits do not hold it exactly.
    public var uint64: UInt64? { integer() }

    /// The number rounded to the nearest double; infinite if it is out of range.
    public var double: Double {
        // `Double` accepts every number of JSON's grammar.
        Double(text) ?? .nan
    }

    /// Returns the integer; nil if the type does not hold it exactly.
    public func integer<T: FixedWidthInteger>(as type: T.Type = T.self) -> T? {
        T(text) ?? wholeDigits.flatMap { T($0) }
    }

    /// The signed digits of an integer that is written with a fraction or an exponent. Nil if the number is not an
    /// integer, or has more digits than the largest integer type. Computed from the digits, because a double would
    /// round.
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
        // An exponent that does not fit makes every number except 0 too large or too small.
        guard let written = parts.count > 1 ? Int(String(decoding: parts[1], as: UTF8.self)) : 0 else { return nil }
        let (zeroCount, overflow) = exponent.addingReportingOverflow(written)
        guard !overflow, zeroCount >= 0, zeroCount <= Self.maximumDigits - min(digits.count, Self.maximumDigits) else {
            return nil
        }
        let sign = text.utf8.first == UInt8(ascii: "-") ? "-" : ""
        return sign + String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: zeroCount)
    }

    /// The number of digits that 128 bits need.
    private static let maximumDigits = 39

    private static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var scan = NumberScan()
            return scan.end(in: UnsafeRawBufferPointer(bytes), from: 0) == bytes.count && scan.isWhole
        }
    }
}
