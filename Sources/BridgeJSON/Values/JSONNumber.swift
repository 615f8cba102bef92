/// A JSON number: its text, so that no digit is lost on the way. Two numbers are equal when their texts are.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number as JSON writes it.
    public let text: String

    /// A number from its text; nil where that is none of JSON's grammar.
    public init?(text: String) {
        var checked = text
        let isNumber = checked.withUTF8 { bytes in
            var end = 0
            return NumberText.skip(UnsafeRawBufferPointer(bytes), &end) && end == bytes.count
        }
        guard isNumber else { return nil }
        self.text = checked
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

    /// The integer, where the type holds it exactly; also of a text such as `1.0` or `2e3`.
    public func integer<T: FixedWidthInteger>(as type: T.Type = T.self) -> T? {
        var text = text
        return text.withUTF8 { NumberText.integer(UnsafeRawBufferPointer($0), as: type) }
    }
}
