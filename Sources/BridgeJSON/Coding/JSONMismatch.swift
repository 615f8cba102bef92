/// What did not fit where a type was read from JSON.
public struct JSONMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where, such as `$.where[2].name`.
    public var path: String
    /// What should be there: "a string", "an integer from 0 to 255", "one of: alert, confirm, prompt".
    public var expected: String
    /// What is there: "number 12", "nothing", "unknown key".
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
