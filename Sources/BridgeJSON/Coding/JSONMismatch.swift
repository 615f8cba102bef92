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
    /// What is there where nothing is.
    static let nothing = "nothing"

    /// A mismatch from what a type's own decoding threw.
    init(_ error: any Error, at path: CodingPath, got value: () -> String) {
        switch error {
        case let mismatch as JSONMismatch:
            self = mismatch
        case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context):
            self.init(path: path.text, expected: "a fitting value (\(context.debugDescription))", got: value())
        default:
            self.init(path: path.text, expected: "a fitting value (\(error))", got: value())
        }
    }
}

extension JSONTape {
    /// How much of a number or a string is told.
    private static let toldCount = 40

    /// A value in a few words: its kind, and itself where it is short.
    func describe(_ node: Int) -> String {
        switch kind(node) {
        case .null: "null"
        case .true: "true"
        case .false: "false"
        case .number: "number \(number(node).text.prefix(Self.toldCount))"
        // Not by characters, one of which may be as long as the whole.
        case .string: "string \(JSON.string(String(string(node).unicodeScalars.prefix(Self.toldCount))).text)"
        case .array: nodes[node].count == 0 ? "an empty array" : "an array"
        case .object: nodes[node].count == 0 ? "an empty object" : "an object"
        }
    }

    /// A null that is in no container.
    func appendedNull() -> Int {
        nodes.append(TapeNode(.null, start: 0, next: UInt32(nodes.count + 1)))
        return nodes.count - 1
    }
}

/// Which keys of which objects were asked for, where unknown ones are refused.
final class KeyVisits {
    private var asked: [Int: (path: CodingPath, keys: Set<ExactKey>)] = [:]
    private var order: [Int] = []

    func opened(_ object: Int, at path: CodingPath) {
        guard asked[object] == nil else { return }
        asked[object] = (path, [])
        order.append(object)
    }

    func ask(_ key: String, of object: Int) { asked[object]?.keys.insert(ExactKey(text: key)) }

    /// The first member that nobody asked for.
    func unknownKey(in tape: JSONTape) -> JSONMismatch? {
        for object in order {
            guard let visit = asked[object],
                let key = tape.keys(of: object).first(where: { !visit.keys.contains(ExactKey(text: $0)) })
            else { continue }
            let known = visit.keys.map(\.text).sorted()
            return JSONMismatch(
                path: CodingPath.key(key, of: visit.path).text,
                expected: known.isEmpty ? "no member at all" : "one of the keys \(known.joined(separator: ", "))",
                got: "an unknown key", knownKeys: known)
        }
        return nil
    }
}
