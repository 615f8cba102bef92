/// A type that is read from one node of a tape.
protocol PlainValue {
    /// Returns the value; nil if the node does not fit.
    static func plain(_ tape: JSONTape, _ node: Int) -> Self?

    /// The expected value for a mismatch, in general and if the node is a number.
    static var expected: String { get }
    static var expectedNumber: String { get }
}

extension Bool: PlainValue {
    @inline(__always)
    static func plain(_ tape: JSONTape, _ node: Int) -> Bool? {
        switch tape.kind(node) {
        case .true: true
        case .false: false
        default: nil
        }
    }

    static var expected: String { "true or false" }
    static var expectedNumber: String { expected }
}

extension String: PlainValue {
    @inline(__always)
    static func plain(_ tape: JSONTape, _ node: Int) -> String? {
        tape.kind(node) == .string ? tape.string(node) : nil
    }

    static var expected: String { "a string" }
    static var expectedNumber: String { expected }
}

extension Double: PlainValue {
    @inline(__always)
    static func plain(_ tape: JSONTape, _ node: Int) -> Double? {
        guard tape.kind(node) == .number else { return nil }
        let double = tape.double(node)
        return double.isFinite ? double : nil
    }

    static var expected: String { "a number" }
    static var expectedNumber: String { "a number in the range of a double" }
}

extension Float: PlainValue {
    static func plain(_ tape: JSONTape, _ node: Int) -> Float? {
        // From the text: through a double it would be rounded twice.
        guard tape.kind(node) == .number, let float = Float(tape.number(node).text), float.isFinite else { return nil }
        return float
    }

    static var expected: String { "a number" }
    static var expectedNumber: String { "a number in the range of a float" }
}

extension PlainValue where Self: FixedWidthInteger {
    @inline(__always)
    static func plain(_ tape: JSONTape, _ node: Int) -> Self? {
        tape.kind(node) == .number ? tape.integer(node) : nil
    }

    static var expected: String { "an integer" }
    static var expectedNumber: String { "an integer from \(min) to \(max)" }
}

extension Int: PlainValue {}
extension Int8: PlainValue {}
extension Int16: PlainValue {}
extension Int32: PlainValue {}
extension Int64: PlainValue {}
extension UInt: PlainValue {}
extension UInt8: PlainValue {}
extension UInt16: PlainValue {}
extension UInt32: PlainValue {}
extension UInt64: PlainValue {}

extension Array where Element: PlainValue {
    /// Returns the elements of an array; nil if one of them does not fit. It reads the same as `Array.init(from:)`, but
    /// without a decoder and containers, which cost ten times the elements of a short array.
    static func plain(_ tape: JSONTape, _ array: Int) -> [Element]? {
        let count = Int(tape.nodes[array].count)
        var elements: [Element] = []
        elements.reserveCapacity(count)
        var node = array + 1
        for _ in 0..<count {
            guard let element = Element.plain(tape, node) else { return nil }
            elements.append(element)
            node = Int(tape.nodes[node].next)
        }
        return elements
    }
}
