/// A value that is being written.
struct OpenValue {
    /// What a type may make of its encoder, one of them.
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

    /// Its number in its text, which its encoder and containers have too.
    var id: Int
    /// The number of a value that has ended; 0 is that of containers that should not have been asked for.
    static let ended = -1
    var form = Form.none
    /// Two of its keys may be the same.
    var hasDuplicate = false
    /// How many members or elements it has.
    var count = 0
    /// Where it begins in the text, and its keys among the hashes.
    let start: Int
    let firstHash: Int
    /// What few values have.
    private(set) var extra: Extra?

    init(id: Int, start: Int, firstHash: Int) {
        (self.id, self.start, self.firstHash) = (id, start, firstHash)
    }

    final class Extra {
        /// Called when the value ends, since those who open containers cannot throw.
        var misuse: JSONEncodingError?
        /// In the order of their offsets.
        private(set) var parts: [EncodingPart] = []
        /// Those that are the last members of their keys.
        private var partsByKey: [ExactKey: EncodingText] = [:]

        func append(_ part: EncodingPart) { parts.append(part) }

        func part(of key: some CodingKey) -> EncodingText? { partsByKey[ExactKey(text: key.stringValue)] }

        func remember(_ part: EncodingText, of key: some CodingKey) {
            partsByKey[ExactKey(text: key.stringValue)] = part
        }

        /// The last member of the key is none now.
        func forgetPart(of key: some CodingKey) { partsByKey[ExactKey(text: key.stringValue)] = nil }
    }

    mutating func makeExtra() -> Extra {
        if let extra { return extra }
        let made = Extra()
        extra = made
        return made
    }
}

/// A text that is to be inserted into another, at a byte offset.
struct EncodingPart {
    var offset: Int
    var text: EncodingText
}
