/// A JSON pointer (RFC 6901): the keys that lead from a document to a part of it.
///
/// It is split by bytes: in terms of a string's characters, a combining mark after a `/` or a `~` is one character with
/// it.
public struct JSONPointer: Equatable, Sendable {
    /// The keys, outermost first. The key of an element is its index.
    public let keys: [String]

    /// Creates a pointer from its text; nil if the text does not begin with a `/` and is not empty.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard let first = bytes.first else {
            keys = []
            return
        }
        guard first == Self.slash else { return nil }
        keys = bytes.dropFirst().split(separator: Self.slash, omittingEmptySubsequences: false).map(Self.unescaped)
    }

    /// Creates the pointer of a reference within a document, such as `#/$defs/name`; nil if it refers to another
    /// document or an anchor.
    public init?(reference: String) {
        let (document, fragment) = SchemaURI.split(reference)
        guard document.isEmpty, let fragment else { return nil }
        self.init(fragment)
    }

    /// Returns the index of an element from its key; nil if the key is not an index.
    static func index(_ key: String) -> Int? {
        // Neither a sign nor a leading zero.
        guard let index = Int(key), index >= 0, key.utf8.count == 1 || key.utf8.first.map(isFirstDigit) == true else {
            return nil
        }
        return index
    }

    private static let slash = UInt8(ascii: "/")
    private static let tilde = UInt8(ascii: "~")

    private static func isFirstDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "1") < 9 }

    /// `~1` represents a slash, `~0` the tilde; before anything else a tilde represents itself.
    private static func unescaped(_ part: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.count)
        var isEscape = false
        for byte in part {
            switch byte {
            case UInt8(ascii: "1") where isEscape: bytes[bytes.count - 1] = slash
            case UInt8(ascii: "0") where isEscape: break
            default: bytes.append(byte)
            }
            isEscape = byte == tilde
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSON {
    /// The value that a pointer leads to; nil if there is none.
    public subscript(pointer: JSONPointer) -> JSON? {
        pointer.keys.reduce(self) { value, key in
            if case .array? = value { JSONPointer.index(key).flatMap { value?[$0] } } else { value?[key] }
        }
    }
}
