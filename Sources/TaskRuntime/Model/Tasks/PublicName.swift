/// The rule for names that clients and plugins give to tasks and events: names that are registered, published or
/// subscribed to.
///
/// Such a name reaches shells, terminals, logs and other users' programs. Characters with a special meaning in any of
/// these are therefore refused when the name is received.
enum PublicName {
    /// The maximum length of a name.
    static let maximumBytes = 128
    /// The definition of a name, worded as the end of a sentence.
    static let rule = "1 to \(maximumBytes) of the characters A-Z, a-z, 0-9, and . _ / : -"

    /// Whether the text is such a name.
    static func isAllowed(_ text: String) -> Bool {
        (1...maximumBytes).contains(text.utf8.count) && text.utf8.allSatisfy(isAllowed)
    }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
