/// What a text holds, flat and in the order of the text: one entry for each value and each key.
///
/// An object is followed by its members (a key, then its value with all that is in it), an array by its elements. A
/// tape is a few bytes for each value, is made in one pass, and tells everything that can be wrong with a text: whoever
/// holds one can read values out of the text without any further check.
struct Tape {
    /// One value or key.
    struct Entry {
        enum Kind: UInt8 {
            case null, `true`, `false`, number
            /// A string whose content is its bytes.
            case string
            /// A string that bears escapes.
            case escapedString
            case array, object
        }

        var kind: Kind
        /// For refusing unknown keys: an object whose members were asked for, a key that was asked for.
        var isAsked = false
        /// The first byte of the value; of a string the first of its content.
        var offset: UInt32
        /// The bytes of a scalar, of a string those of its content; of a container how many elements or members.
        var length: UInt32
        /// The entry behind this one and all that is in it. While a container is being read: the one around it.
        var next: UInt32
    }

    /// A text may be no longer than its places can be counted in 32 bits.
    static let maximumTextBytes = Int(UInt32.max)

    var entries: [Entry]

    /// Reads a text.
    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONSyntaxError) {
        guard bytes.count < Self.maximumTextBytes else {
            throw JSONSyntaxError(offset: 0, reason: "a text of 4 GiB or more")
        }
        var scanner = TapeScanner(bytes, maximumDepth: maximumDepth)
        try scanner.document()
        entries = scanner.entries
    }
}

extension Tape.Entry {
    /// The bytes of a scalar, or of a string's content.
    func text(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset) + Int(length)])
    }

    /// The content of a string or key.
    func string(in bytes: UnsafeRawBufferPointer) -> String {
        let text = text(in: bytes)
        return kind == .escapedString ? StringText.unescaped(text) : String(decoding: text, as: UTF8.self)
    }
}

extension Tape {
    /// The value at an entry, as a tree.
    ///
    /// Goes one call deeper with each level: the depth that the text was read with is what bounds it.
    func json(at index: Int, in bytes: UnsafeRawBufferPointer) -> JSON {
        let entry = entries[index]
        switch entry.kind {
        case .null: return .null
        case .true: return true
        case .false: return false
        case .number: return .number(JSONNumber(checked: String(decoding: entry.text(in: bytes), as: UTF8.self)))
        case .string, .escapedString: return .string(entry.string(in: bytes))
        case .array: return .array(elements(of: entry, at: index, in: bytes))
        case .object: return .object(members(of: entry, at: index, in: bytes))
        }
    }

    private func elements(of array: Entry, at index: Int, in bytes: UnsafeRawBufferPointer) -> [JSON] {
        var elements: [JSON] = []
        elements.reserveCapacity(Int(array.length))
        var element = index + 1
        for _ in 0..<array.length {
            elements.append(json(at: element, in: bytes))
            element = Int(entries[element].next)
        }
        return elements
    }

    private func members(of object: Entry, at index: Int, in bytes: UnsafeRawBufferPointer) -> JSONObject {
        var members = JSONObject(capacity: Int(object.length))
        var key = index + 1
        for _ in 0..<object.length {
            members[entries[key].string(in: bytes)] = json(at: key + 1, in: bytes)
            key = Int(entries[key + 1].next)
        }
        return members
    }
}
