import BridgeJSON

/// How long texts may be that clients leave with the daemon, in bytes. All that is kept of a session by these is a part
/// of the memory that a session may take: docs/operations.md.
enum TextBounds {
    /// Names that a client gives itself, its version, and users.
    static let name = 256
    /// Browsers' are below 300.
    static let userAgent = 1_024
    /// A page's URL and title together.
    static let page = 8_192
    /// An origin is a scheme, a host and a port: a DNS name has at most 253 bytes.
    static let origin = 512
    /// What a task does, in one line.
    static let summary = 256
    /// The names of events about which a session's rights are remembered.
    static let rememberedEvent = 128

    /// - Parameter path: Where the text stands in the options.
    /// - Throws: `options.invalid`, where a text is longer than it may be.
    static func check(_ path: String, _ bytes: Int, atMost maximum: Int) throws(BridgeError) {
        guard bytes > maximum else { return }
        throw BridgeError(JSONMismatch(path: path, expected: "at most \(maximum) bytes", got: "\(bytes) bytes"))
    }

    /// The text, where it is no longer than it may be: of what another version of the daemon kept.
    static func kept(_ text: String?, atMost maximum: Int) -> String? {
        text.flatMap { $0.utf8.count <= maximum ? $0 : nil }
    }
}
