import TaskKit

/// The part of a field's value that the order of a query uses.
///
/// The order: a missing field, null, false, true, numbers, strings, arrays, objects. Numbers are ordered by their
/// double. Among numbers with the same double, integers come first, by their exact value. So every number has one
/// position; if integers were compared exactly and all others as doubles, the order would not be transitive. Strings
/// are ordered by the code points of their first `Limits.orderTextBytes` bytes. All arrays are equal here, and so are
/// all objects.
enum SortValue: Hashable, Sendable {
    case missing
    case null
    case bool(Bool)
    /// `integer`: the digits if the number is written as an integer of at most `Limits.orderTextBytes`, else `nil`.
    case number(Double, integer: String?)
    case text([UInt8])
    case array
    case object

    init(_ value: JSON?) {
        switch value {
        case nil: self = .missing
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let number):
            let isExact = number.isWrittenAsInteger && number.text.utf8.count <= Limits.orderTextBytes
            self = .number(number.double, integer: isExact ? number.text : nil)
        case .string(let text): self = .text(Self.sortedPart(of: text))
        case .array: self = .array
        case .object: self = .object
        }
    }

    /// Returns the first bytes of a text, without a partial code point.
    private static func sortedPart(of text: String) -> [UInt8] {
        var part = Array(text.utf8.prefix(Limits.orderTextBytes))
        guard part.count < text.utf8.count else { return part }
        let isContinuation = { (byte: UInt8) in byte & 0xC0 == 0x80 }
        guard isContinuation(text.utf8[text.utf8.index(text.utf8.startIndex, offsetBy: part.count)]) else {
            return part
        }
        while let last = part.popLast(), isContinuation(last) {}
        return part
    }

    private var rank: Int {
        switch self {
        case .missing: 0
        case .null: 1
        case .bool(false): 2
        case .bool(true): 3
        case .number: 4
        case .text: 5
        case .array: 6
        case .object: 7
        }
    }

    func order(to other: SortValue) -> Comparison.Order {
        switch (self, other) {
        case (.number(let left, let leftInteger), .number(let right, let rightInteger)):
            let order = Comparison.Order(left, right)
            if order != .same { return order }
            switch (leftInteger, rightInteger) {
            case (nil, nil): return .same
            case (_?, nil): return .before
            case (nil, _?): return .after
            case (let left?, let right?): return Comparison.compareIntegers(left, right)
            }
        case (.text(let left), .text(let right)):
            return Comparison.compareBytes(left, right)
        default:
            return Comparison.Order(rank, other.rank)
        }
    }
}

// MARK: In a cursor

extension SortValue {
    /// An array of a letter and, if the kind of value has a content, a string.
    var json: JSON {
        switch self {
        case .missing: ["m"]
        case .null: ["z"]
        case .bool(false): ["f"]
        case .bool(true): ["t"]
        case .number(_, let integer?): ["i", .string(integer)]
        case .number(let double, nil): ["d", .string(String(double.bitPattern, radix: 16))]
        case .text(let bytes): ["s", .string(String(decoding: bytes, as: UTF8.self))]
        case .array: ["a"]
        case .object: ["o"]
        }
    }

    /// - Returns: The value; `nil` if `json` does not produce this form.
    init?(json: JSON) {
        guard case .array(let parts) = json, let letter = parts.first?.stringValue else { return nil }
        let text = parts.count == 2 ? parts[1].stringValue : nil
        guard parts.count == 1 || text != nil else { return nil }
        switch (letter, text) {
        case ("m", nil): self = .missing
        case ("z", nil): self = .null
        case ("f", nil): self = .bool(false)
        case ("t", nil): self = .bool(true)
        case ("a", nil): self = .array
        case ("o", nil): self = .object
        case ("i", let text?):
            guard text.utf8.count <= Limits.orderTextBytes, let number = JSONNumber(text: text),
                number.isWrittenAsInteger
            else { return nil }
            self = .number(number.double, integer: text)
        case ("d", let text?):
            guard let bits = UInt64(text, radix: 16), case let double = Double(bitPattern: bits), !double.isNaN else {
                return nil
            }
            self = .number(double, integer: nil)
        case ("s", let text?):
            guard text.utf8.count <= Limits.orderTextBytes else { return nil }
            self = .text(Array(text.utf8))
        default: return nil
        }
    }
}
