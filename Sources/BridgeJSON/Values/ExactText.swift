/// Text that is compared by its bytes.
///
/// Swift holds two spellings of an accented letter to be equal, and the sign for kelvin to be a K; the database, other
/// languages and callers do not. So names that are looked up, and names that rights rest on, are compared as what they
/// are on the wire.
@frozen
public struct ExactText: Hashable, Sendable {
    /// The text as it is on the wire.
    public let utf8: [UInt8]

    /// The text of a string.
    @inlinable
    public init(_ text: String) { utf8 = Array(text.utf8) }

    /// The text of UTF-8.
    @inlinable
    public init(utf8: [UInt8]) { self.utf8 = utf8 }

    /// As a string.
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
    /// The text of a literal.
    public init(stringLiteral text: String) { self.init(text) }
}

extension String {
    /// Whether the other string has the same bytes. `==` also holds where it only looks the same.
    public func isExactly(_ other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
