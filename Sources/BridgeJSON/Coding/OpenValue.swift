/// A value that is being written.
struct OpenValue {
    /// The kind of container that a type has requested from its encoder; it may request only one.
    enum Form: CustomStringConvertible {
        case none, single, object, array

        var description: String {
            switch self {
            case .none: "nothing"
            case .single: "a single value"
            case .object: "an object"
            case .array: "an array"
            }
        }
    }

    /// Its number in its text; its encoder and containers have the same number.
    var id: Int
    /// The number of a value that has ended. 0 is the number of containers that were requested by mistake.
    static let ended = -1
    var form = Form.none
    /// Whether two of its keys may be equal.
    var hasDuplicate = false
    /// The number of its members or elements.
    var count = 0
    /// Where it begins in the text, and where its keys begin among the hashes.
    let start: Int
    let firstHash: Int
    /// Data that few values need; nil otherwise.
    private(set) var extra: Extra?

    init(id: Int, start: Int, firstHash: Int) {
        (self.id, self.start, self.firstHash) = (id, start, firstHash)
    }

    final class Extra {
        /// Thrown when the value ends, because functions that open containers cannot throw.
        var misuse: JSONEncodingError?
        /// The parts in the order of their offsets.
        private(set) var parts: [EncodingPart] = []
        /// The parts that are the last members with their keys.
        private var partsByKey: [ExactKey: EncodingText] = [:]

        func append(_ part: EncodingPart) { parts.append(part) }

        func part(of key: some CodingKey) -> EncodingText? { partsByKey[ExactKey(text: key.stringValue)] }

        func remember(_ part: EncodingText, of key: some CodingKey) {
            partsByKey[ExactKey(text: key.stringValue)] = part
        }

        /// Called when the last member with the key is no longer a part.
        func forgetPart(of key: some CodingKey) { partsByKey[ExactKey(text: key.stringValue)] = nil }
    }

    mutating func makeExtra() -> Extra {
        if let extra { return extra }
        let made = Extra()
        extra = made
        return made
    }
}

/// A text that will be inserted into another one at a byte offset.
struct EncodingPart {
    var offset: Int
    var text: EncodingText
}
