import TaskKit

/// How JSON values compare in a filter.
///
/// Numbers compare by value: exactly where both are written as integers, of whatever size, else as doubles. Texts
/// compare by their code points. Objects are equal whatever the order of their members. A number of more than
/// `Limits.comparedNumberBytes` equals the same text alone and has no order, so that a comparison takes no longer than
/// the shorter of its two values.
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

    /// Where the first of two values stands to the second.
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

    /// - Returns: nil where they have no order.
    static func compare(_ left: JSONNumber, _ right: JSONNumber) -> Order? {
        guard max(left.text.utf8.count, right.text.utf8.count) <= Limits.comparedNumberBytes else {
            return left == right ? .same : nil
        }
        if let left = Int64(left.text), let right = Int64(right.text) { return Order(left, right) }
        let order = Order(left.double, right.double)
        guard order == .same, left.isWrittenAsInteger, right.isWrittenAsInteger else { return order }
        return compareIntegers(left.text, right.text)
    }

    /// By code points, which is the order of the UTF-8 bytes.
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
        // JSON knows no leading zeros: more digits are a larger number.
        var order = Order(leftDigits.count, rightDigits.count)
        if order == .same { order = compareBytes(leftDigits, rightDigits) }
        return isLeftNegative ? order.reversed : order
    }

    private static let minus = UInt8(ascii: "-")
}

extension JSONNumber {
    /// Without fraction and exponent.
    var isWrittenAsInteger: Bool {
        text.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
    }
}
