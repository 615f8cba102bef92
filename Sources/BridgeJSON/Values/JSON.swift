// BridgeJSON: JSON as values.
//
//   Values/  a JSON value, its numbers kept as the text they came as; the tape that every text is read into; writing
//   Coding/  Codable types from a tape and into a text, mismatches with their paths, and the JSON Schema of a type
//   Schemas/ what a type looks like as a JSON Schema; schemas compiled, and values checked against them
//   and the error object that both ends of the bridge share.
//
// Linked into the daemon, the clients and every plugin alike. It imports Glibc alone, to load what matches the patterns
// of schemas when the first one comes, and keeps no state but that. It is not on the way of a raw call, whose options
// and results travel as bytes.

/// A JSON value. Objects keep the order of their members; of equal keys the last one counts.
public enum JSON: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number of any size and precision.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object.
    case object(JSONObject)
}

extension JSON {
    /// The member of an object; nil where this is none, or has no such member.
    public subscript(key: String) -> JSON? { objectValue?[key] }

    /// The element of an array; nil where this is none, or is shorter.
    public subscript(index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The string; nil where this is none.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The boolean; nil where this is none.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The integer; nil where this is no number, or none that 64 bits hold exactly.
    public var int64Value: Int64? { if case .number(let value) = self { value.int64 } else { nil } }
    /// The number, rounded; nil where this is none.
    public var doubleValue: Double? { if case .number(let value) = self { value.double } else { nil } }
    /// The elements; nil where this is no array.
    public var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }
    /// The members; nil where this is no object.
    public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// What JSON Schema calls this kind of value: "null", "boolean", "number", "string", "array" or "object".
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`, which is a value: where no value is meant, `.none` or a `guard` says so. In particular, `condition ?
    /// value : nil` with a `JSON` is never without a value.
    public init(nilLiteral: ()) { self = .null }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    /// A number. One that is not finite traps: JSON has none.
    public init(floatLiteral value: Double) {
        guard let number = JSONNumber(value) else { preconditionFailure("JSON has no number \(value)") }
        self = .number(number)
    }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// An object; of equal keys the last one counts.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}
