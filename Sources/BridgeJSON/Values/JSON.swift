// BridgeJSON: JSON as values.
//
//   Values/  a JSON value whose numbers keep their text; the tape into which every text is read; writing
//   Coding/  Codable types from a tape and into a text, mismatches with their paths, and the JSON Schema of a type
//   Schemas/ the JSON Schema of a type; compiled schemas, and the check of values against them
//   and the error object that both ends of the bridge share.
//
// It is linked into the daemon, the clients and every plugin. It imports only Glibc, to load the library that matches
// the patterns of schemas when the first pattern occurs. It keeps no other state. Raw calls do not use it: their
// options and results are passed as bytes.

/// A JSON value. Objects keep the order of their members; if keys are equal, the last member counts.
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
    /// The member of an object; nil if this is not an object or has no such member.
    public subscript(key: String) -> JSON? { objectValue?[key] }

    /// The element of an array; nil if this is not an array or is shorter.
    public subscript(index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The string; nil if this is not a string.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The boolean; nil if this is not a boolean.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The integer; nil if this is not a number, or 64 bits do not hold it exactly.
    public var int64Value: Int64? { if case .number(let value) = self { value.int64 } else { nil } }
    /// The number, rounded; nil if this is not a number.
    public var doubleValue: Double? { if case .number(let value) = self { value.double } else { nil } }
    /// The elements; nil if this is not an array.
    public var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }
    /// The members; nil if this is not an object.
    public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The name of this kind of value in JSON Schema: "null", "boolean", "number", "string", "array" or "object".
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
    /// Creates `null`, which is a value. For no value, write `.none` or use a `guard`. In particular, `condition ?
    /// value : nil` with a `JSON` always has a value.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a number.
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    /// Creates a number. Traps if it is not finite, because JSON has no such number.
    public init(floatLiteral value: Double) {
        guard let number = JSONNumber(value) else { preconditionFailure("JSON has no number \(value)") }
        self = .number(number)
    }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// Creates an object; if keys are equal, the last member counts.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}
