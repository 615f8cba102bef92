import TaskKit

/// The comparison of JSON values in a filter.
///
/// Numbers compare by value: exactly if both are written as integers of any size, else as doubles. Strings compare by
/// code points. The order of an object's members does not matter. A number longer than `Limits.comparedNumberBytes`
/// equals only the same text and has no order, which limits the time of a comparison.
enum Comparison {
    static func areEqual(_ left: JSON, _ right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null):
            true
        case (.bool(let left), .bool(let right)):
            left == right
        case (.number(let left), .number(let right)):
            compare(left, right) == .same
        case (.string(let left), .string(let right)):
            compare(left, right) == .same
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy(areEqual)
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { name, value in right[name].map { areEqual(value, $0) } ?? false }
        default:
            false
        }
    }

    static func haveSameType(_ left: JSON, _ right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null), (.bool, .bool), (.number, .number), (.string, .string), (.array, .array),
            (.object, .object):
            true
        default:
            false
        }
    }

    /// The order of a first value relative to a second one.
    enum Order {
        case before
        case same
        case after

        init<T: Comparable>(_ left: T, _ right: T) { self = left < right ? .before : left == right ? .same : .after }

        var reversed: Order {
            switch self {
            case .before: .after
            case .same: .same
            case .after: .before
            }
        }
    }

    /// - Returns: The order; `nil` if they have none.
    static func compare(_ left: JSONNumber, _ right: JSONNumber) -> Order? {
        guard max(left.text.utf8.count, right.text.utf8.count) <= Limits.comparedNumberBytes else {
            return left == right ? .same : nil
        }
        if let left = Int64(left.text), let right = Int64(right.text) { return Order(left, right) }
        let order = Order(left.double, right.double)
        guard order == .same, left.isWrittenAsInteger, right.isWrittenAsInteger else { return order }
        return compareIntegers(left.text, right.text)
    }

    /// Compares by code points, which is the order of the UTF-8 bytes.
    static func compare(_ left: String, _ right: String) -> Order {
        compareBytes(left.utf8, right.utf8)
    }

    static func compareBytes(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Order {
        if left.lexicographicallyPrecedes(right) { return .before }
        return left.elementsEqual(right) ? .same : .after
    }

    /// Compares integers of any length by their digits.
    static func compareIntegers(_ left: String, _ right: String) -> Order {
        let (leftDigits, rightDigits) = (left.utf8.drop { $0 == minus }, right.utf8.drop { $0 == minus })
        let isZero = leftDigits.elementsEqual("0".utf8) && rightDigits.elementsEqual("0".utf8)
        if isZero { return .same }
        let (isLeftNegative, isRightNegative) = (left.utf8.first == minus, right.utf8.first == minus)
        if isLeftNegative != isRightNegative { return isLeftNegative ? .before : .after }
        // JSON has no leading zeros: more digits are a larger number.
        var order = Order(leftDigits.count, rightDigits.count)
        if order == .same { order = compareBytes(leftDigits, rightDigits) }
        return isLeftNegative ? order.reversed : order
    }

    private static let minus = UInt8(ascii: "-")
}

extension JSONNumber {
    /// Whether the text has neither a fraction nor an exponent.
    var isWrittenAsInteger: Bool {
        text.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
    }
}
