/// A post of a document's porter: a letter, the document's id, and a text.
struct PageMessage: Sendable, Hashable {
    /// The kind of a post.
    enum Kind: UInt8, Sendable {
        /// A document begins, or returns; the text is its origin.
        case hello = 0x68
        /// A line of the page.
        case line = 0x6C
        /// The porter waits for lines.
        case pull = 0x70
    }

    /// The number of bytes of a document's id.
    static let idBytes = 32

    var kind: Kind
    var document: [UInt8]
    var text: ArraySlice<UInt8>

    /// Parses a text; `nil` if the porter did not write it.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.idBytes, let kind = Kind(rawValue: bytes[0]) else { return nil }
        self.kind = kind
        document = Array(bytes[1...Self.idBytes])
        text = bytes[(1 + Self.idBytes)...]
    }
}
