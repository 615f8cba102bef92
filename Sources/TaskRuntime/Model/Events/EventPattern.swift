import BridgeJSON

/// Which events a subscription is for: one name, or all names with a beginning.
struct EventPattern: Hashable {
    /// As the client wrote it.
    let text: String

    /// What a pattern is, as the end of a sentence.
    static let rule = "\(PublicName.rule); * is allowed at its end"

    /// Nil where the text is neither a name nor the beginning of one with `*` behind it.
    init?(_ text: String) {
        guard text.utf8.count <= PublicName.maximumBytes, text == "*" || PublicName.isAllowed(Self.name(in: text))
        else {
            return nil
        }
        self.text = text
    }

    /// Whether it is for all names with a beginning.
    var isBeginning: Bool { text.utf8.last == UInt8(ascii: "*") }

    private static func name(in text: String) -> String {
        text.utf8.last == UInt8(ascii: "*") ? String(text.dropLast()) : text
    }

    func matches(_ event: String) -> Bool {
        isBeginning ? event.utf8.starts(with: text.utf8.dropLast()) : event.isExactly(text)
    }
}
