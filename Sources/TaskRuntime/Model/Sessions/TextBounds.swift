import BridgeJSON

/// The maximum lengths, in bytes, of texts that clients store in the daemon. Together they are a part of the memory
/// that a session may use: docs/operations.md.
enum TextBounds {
    /// Names that a client gives itself, its version, and users.
    static let name = 256
    /// User agents; those of browsers are below 300 bytes.
    static let userAgent = 1_024
    /// A page's URL and title together.
    static let page = 8_192
    /// Origins: a scheme, a host and a port; a DNS name has at most 253 bytes.
    static let origin = 512
    /// Task summaries, in one line.
    static let summary = 256
    /// Event names for which a session's rights are cached.
    static let rememberedEvent = 128

    /// - Parameter path: The position of the text in the options.
    /// - Throws: `options.invalid` if a text is too long.
    static func check(_ path: String, _ bytes: Int, atMost maximum: Int) throws(BridgeError) {
        guard bytes > maximum else { return }
        throw BridgeError(JSONMismatch(path: path, expected: "at most \(maximum) bytes", got: "\(bytes) bytes"))
    }

    /// Returns the text if it is within the limit, otherwise `nil`: for text that another version of the daemon stored.
    static func kept(_ text: String?, atMost maximum: Int) -> String? {
        text.flatMap { $0.utf8.count <= maximum ? $0 : nil }
    }
}
