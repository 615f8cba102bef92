/// The first value in a JSON text that does not fit the type that is read.
public struct JSONMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the value, such as `$.where[2].name`.
    public var path: String
    /// The expected value: "a string", "an integer from 0 to 255", "one of: alert, confirm, prompt".
    public var expected: String
    /// The actual value: "number 12", "nothing", "an unknown key".
    public var got: String
    /// The known keys, if the mismatch is an unknown key; otherwise nil.
    public var knownKeys: [String]?
    /// An unknown key of the same object that was probably meant to be the missing key of the path; nil if there is
    /// none.
    public var similarKey: String?

    /// Creates a mismatch.
    public init(path: String, expected: String, got: String, knownKeys: [String]? = nil) {
        self.path = path
        self.expected = expected
        self.got = got
        self.knownKeys = knownKeys
    }

    /// Whether the mismatch is a key that the type does not have.
    public var isUnknownKey: Bool { knownKeys != nil }

    /// Whether the mismatch is a required member that is missing.
    public var isMissing: Bool { got == Self.nothing && path != "$" }

    /// Creates the mismatch for a required member that is missing from the root.
    ///
    /// - Parameters:
    ///   - key: The key of the member.
    ///   - given: Unknown keys of the same object. A similar one is probably meant to be this one.
    public init(missing key: String, expected: String, given: some Sequence<String>) {
        self.init(missing: key, at: .key(key, of: .root), expected: expected, given: given)
    }

    init(missing key: String, at path: CodingPath, expected: String, given: some Sequence<String>) {
        self.init(path: path.text, expected: expected, got: Self.nothing)
        similarKey = Suggestion.nearest(to: key, among: given)
    }

    /// Adds the unknown keys of the root, for callers that did not pass them to the code that found the mismatch.
    public consuming func naming(given: [String]) -> JSONMismatch {
        guard isMissing, similarKey == nil, let lastKey, path == "$.\(lastKey)" else { return self }
        similarKey = Suggestion.nearest(to: lastKey, among: given)
        return self
    }

    /// The maximum length of a name in a sentence, in Unicode scalars.
    private static let maximumNameScalars = 128

    /// Returns the mismatch as a sentence about members that the reader knows as options, settings, …
    ///
    /// - Parameter noun: the term for a member, such as "option".
    public func sentence(noun: String) -> String {
        let name = path.hasPrefix("$.") ? String(path.dropFirst(2)) : path
        let shown = name.unicodeScalars.prefix(Self.maximumNameScalars)
        if isMissing {
            guard let similarKey, let lastKey else { return "required \(noun) '\(String(shown))' is missing" }
            let folder = name.dropLast(lastKey.count)
            return "unknown \(noun) '\(folder)\(similarKey)'; did you mean '\(lastKey)'?"
        }
        guard let knownKeys else { return "invalid \(noun)s: \(self)" }
        let question = lastKey.map { Suggestion.question(for: $0, among: knownKeys) } ?? ""
        let known = knownKeys.isEmpty ? "there are none" : "known: \(knownKeys.joined(separator: ", "))"
        return "unknown \(noun) '\(String(shown))'" + (question.isEmpty ? " (\(known))" : question)
    }

    /// The last key of the path; nil if the path has quotes, within which a dot is not a separator.
    private var lastKey: String? {
        path.utf8.contains(UInt8(ascii: "\"")) ? nil : path.split(separator: ".").last.map(String.init)
    }

    /// The path, the expected and the actual value, as the end of a sentence.
    public var description: String { "\(path): expected \(expected); got \(got)" }
}

extension JSONMismatch {
    /// The actual value of a missing member.
    static let nothing = "nothing"

    /// Converts an error that a type's own decoding threw.
    init(_ error: any Error, at path: CodingPath, got value: () -> String) {
        switch error {
        case let mismatch as JSONMismatch:
            self = mismatch
        case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context):
            self.init(path: path.text, expected: "a valid value (\(context.debugDescription))", got: value())
        default:
            self.init(path: path.text, expected: "a valid value (\(error))", got: value())
        }
    }
}

extension JSONTape {
    /// The maximum length of a number or a string in a sentence.
    private static let shownCount = 40

    /// Describes a value in a few words: its kind, and the value itself if it is short.
    func describe(_ node: Int) -> String {
        switch kind(node) {
        case .null: "null"
        case .true: "true"
        case .false: "false"
        case .number: "number \(number(node).text.prefix(Self.shownCount))"
        // Not in characters: one character may be as long as the whole string.
        case .string: "string \(JSON.string(String(string(node).unicodeScalars.prefix(Self.shownCount))).text)"
        case .array: nodes[node].count == 0 ? "an empty array" : "an array"
        case .object: nodes[node].count == 0 ? "an empty object" : "an object"
        }
    }

    /// Appends a null that is in no container, and returns its node.
    func appendedNull() -> Int {
        nodes.append(TapeNode(.null, start: 0, next: UInt32(nodes.count + 1)))
        return nodes.count - 1
    }
}

/// The keys that were requested from each object, recorded if unknown keys are refused.
final class KeyVisits {
    private var asked: [Int: (path: CodingPath, keys: Set<ExactKey>)] = [:]
    private var order: [Int] = []

    func opened(_ object: Int, at path: CodingPath) {
        guard asked[object] == nil else { return }
        asked[object] = (path, [])
        order.append(object)
    }

    func ask(_ key: String, of object: Int) { asked[object]?.keys.insert(ExactKey(text: key)) }

    /// Returns the first member that was not requested; nil if there is none.
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
