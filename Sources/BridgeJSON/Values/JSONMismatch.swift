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
    /// An unknown key that stands where the key of the path is missing, and that is probably meant to be it.
    public var similarKey: String?

    /// A mismatch.
    public init(path: String, expected: String, got: String, knownKeys: [String]? = nil) {
        self.path = path
        self.expected = expected
        self.got = got
        self.knownKeys = knownKeys
    }

    /// Whether a key is the mismatch that the type does not know.
    public var isUnknownKey: Bool { knownKeys != nil }

    /// Whether a required member is the mismatch, which is not there.
    public var isMissing: Bool { got == Self.nothing && path != "$" }

    /// A required member that is not there.
    ///
    /// - Parameters:
    ///   - path: Its path; nil: it is a member of the root.
    ///   - given: Unknown keys of the same object. One that is near is probably meant to be this one.
    public init(missing key: String, expected: String, given: some Sequence<String>) {
        self.init(missing: key, at: .key(key, of: .root), expected: expected, given: given)
    }

    init(missing key: String, at path: CodingPath, expected: String, given: some Sequence<String>) {
        self.init(path: path.text, expected: expected, got: Self.nothing)
        similarKey = Suggestion.nearest(to: key, among: given)
    }

    /// The same with the unknown keys of the root, for who did not hand them on to what found the mismatch.
    public consuming func naming(given: [String]) -> JSONMismatch {
        guard isMissing, similarKey == nil, let lastKey, path == "$.\(lastKey)" else { return self }
        similarKey = Suggestion.nearest(to: lastKey, among: given)
        return self
    }

    /// The maximum length of a name in a sentence, in Unicode scalars.
    private static let maximumNameScalars = 128

    /// The mismatch as a sentence about members that the reader knows as options, settings, …
    ///
    /// - Parameter noun: what a member is called, such as "option".
    public func sentence(noun: String) -> String {
        let name = path.hasPrefix("$.") ? String(path.dropFirst(2)) : path
        let shown = name.unicodeScalars.prefix(Self.maximumNameScalars)
        if isMissing {
            guard let similarKey, let lastKey else { return "required \(noun) '\(String(shown))' is missing" }
            let folder = name.dropLast(lastKey.count)
            return "unknown \(noun) '\(folder)\(similarKey)'; did you mean '\(lastKey)'?"
        }
        guard let knownKeys else { return "the \(noun)s do not fit: \(self)" }
        let question = lastKey.map { Suggestion.question(for: $0, among: knownKeys) } ?? ""
        let known = knownKeys.isEmpty ? "there are none" : "known: \(knownKeys.joined(separator: ", "))"
        return "unknown \(noun) '\(String(shown))'" + (question.isEmpty ? " (\(known))" : question)
    }

    /// The last key of the path; nil where the path has quotes, in which a dot separates nothing.
    private var lastKey: String? {
        path.utf8.contains(UInt8(ascii: "\"")) ? nil : path.split(separator: ".").last.map(String.init)
    }

    /// Path, expectation and finding, as the end of a sentence.
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
    /// The maximum length of a number or a string in a sentence.
    private static let shownCount = 40

    /// A value in a few words: its kind, and itself where it is short.
    func describe(_ node: Int) -> String {
        switch kind(node) {
        case .null: "null"
        case .true: "true"
        case .false: "false"
        case .number: "number \(number(node).text.prefix(Self.shownCount))"
        // Not by characters, one of which may be as long as the whole.
        case .string: "string \(JSON.string(String(string(node).unicodeScalars.prefix(Self.shownCount))).text)"
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

    /// The first member that was not asked for.
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
