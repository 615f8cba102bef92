import BridgeJSON

/// The pattern of a subscription: one event name, or all names with a prefix.
struct EventPattern: Hashable {
    /// The pattern as the client wrote it.
    let text: String

    /// The definition of a pattern, worded as the end of a sentence.
    static let rule = "\(PublicName.rule); * is allowed at its end"

    /// `nil` if the text is neither a name nor a prefix of a name followed by `*`.
    init?(_ text: String) {
        guard text.utf8.count <= PublicName.maximumBytes, text == "*" || PublicName.isAllowed(Self.name(in: text))
        else {
            return nil
        }
        self.text = text
    }

    /// Whether the pattern matches all names with a prefix.
    var isPrefix: Bool { text.utf8.last == UInt8(ascii: "*") }

    private static func name(in text: String) -> String {
        text.utf8.last == UInt8(ascii: "*") ? String(text.dropLast()) : text
    }

    func matches(_ event: String) -> Bool {
        isPrefix ? event.utf8.starts(with: text.utf8.dropLast()) : event.isExactly(text)
    }
}
