/// What did not fit where a type was read from JSON.
public struct JSONMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where, such as `$.where[2].name`.
    public var path: String
    /// What should be there: "a string", "an integer from 0 to 255", "one of: alert, confirm, prompt".
    public var expected: String
    /// What is there: "number 12", "nothing", "an unknown key".
    public var got: String
    /// The keys that there are, where an unknown one is the mismatch.
    public var knownKeys: [String]?

    /// A mismatch.
    public init(path: String, expected: String, got: String, knownKeys: [String]? = nil) {
        self.path = path
        self.expected = expected
        self.got = got
        self.knownKeys = knownKeys
    }

    /// Whether a key is the mismatch that the type does not know.
    public var isUnknownKey: Bool { knownKeys != nil }

    /// Place, expectation and finding, as the end of a sentence.
    public var description: String { "at \(path) \(expected) was expected, not \(got)" }
}

extension JSONMismatch {
    init(_ path: CodingPath, _ expected: String, got value: JSON?) {
        self.init(path: path.text, expected: expected, got: Self.describe(value))
    }

    /// A mismatch from what a type's own decoding threw.
    init(_ error: any Error, at path: CodingPath, value: JSON?) {
        switch error {
        case let mismatch as JSONMismatch:
            self = mismatch
        case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context):
            self.init(path, "a fitting value (\(context.debugDescription))", got: value)
        default:
            self.init(path, "a fitting value (\(error))", got: value)
        }
    }

    /// A value in a few words: its kind, and itself where it is short.
    static func describe(_ value: JSON?) -> String {
        switch value {
        case nil: "nothing"
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number): "number \(number.text.prefix(40))"
        case .string(let string): "string \(JSON.string(String(string.prefix(40))).text)"
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
        case .object(let object): object.isEmpty ? "an empty object" : "an object"
        }
    }
}

/// Where in a value a coder stands; written out only when something does not fit.
indirect enum CodingPath {
    case root
    case key(String, of: CodingPath)
    case index(Int, of: CodingPath)

    var text: String {
        switch self {
        case .root: "$"
        case .key(let key, let parent): parent.text + (Self.isPlain(key) ? ".\(key)" : "[\(JSON.string(key).text)]")
        case .index(let index, let parent): parent.text + "[\(index)]"
        }
    }

    /// The path as the standard library has it.
    var codingKeys: [any CodingKey] {
        switch self {
        case .root: []
        case .key(let key, let parent): parent.codingKeys + [AnyKey(key)]
        case .index(let index, let parent): parent.codingKeys + [AnyKey(index)]
        }
    }

    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty
            && key.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "$")
                    || byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
            }
    }
}

/// A key that is just its name.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

/// Which keys of which objects were asked for, where unknown ones are refused.
final class KeyVisits {
    private var asked: [String: (object: JSONObject, path: CodingPath, keys: Set<String>)] = [:]
    private var order: [String] = []

    func opened(_ object: JSONObject, at path: CodingPath) {
        let place = path.text
        guard asked[place] == nil else { return }
        asked[place] = (object, path, [])
        order.append(place)
    }

    func ask(_ key: String, at path: CodingPath) { asked[path.text]?.keys.insert(key) }

    /// The first member that nobody asked for.
    var unknownKey: JSONMismatch? {
        for place in order {
            guard let visit = asked[place], let key = visit.object.keys.first(where: { !visit.keys.contains($0) })
            else { continue }
            let known = visit.keys.sorted()
            return JSONMismatch(
                path: CodingPath.key(key, of: visit.path).text,
                expected: known.isEmpty ? "no member at all" : "one of the keys \(known.joined(separator: ", "))",
                got: "an unknown key", knownKeys: known)
        }
        return nil
    }
}
