/// Text that is compared by its bytes.
///
/// Swift considers two spellings of an accented letter equal, and the sign for kelvin equal to K; the database, other
/// languages and callers do not. Names that are looked up, and names that determine rights, are therefore compared as
/// they are on the wire.
@frozen
public struct ExactText: Hashable, Sendable {
    /// The text as it is on the wire.
    public let utf8: [UInt8]

    /// Creates the text of a string.
    @inlinable
    public init(_ text: String) { utf8 = Array(text.utf8) }

    /// Creates a text from UTF-8.
    @inlinable
    public init(utf8: [UInt8]) { self.utf8 = utf8 }

    /// The text as a string.
    @inlinable public var text: String { String(decoding: utf8, as: UTF8.self) }

    /// Whether a string has the same bytes.
    @inlinable
    public func equals(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { $0.elementsEqual(utf8) }
    }
}

extension ExactText: Codable {
    /// Reads a string.
    public init(from decoder: any Decoder) throws { self.init(try String(from: decoder)) }

    /// Writes a string.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

extension ExactText: ExpressibleByStringLiteral {
    /// Creates the text of a literal.
    public init(stringLiteral text: String) { self.init(text) }
}

extension String {
    /// Whether the other string has the same bytes. `==` is also true for strings that only look the same.
    public func isExactly(_ other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
