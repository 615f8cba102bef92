/// The one rule for names that clients and plugins give to tasks and events: those that are registered, published and
/// listened to.
///
/// Such a name reaches shells, terminals, logs and other users' programs. Characters that any of these gives a meaning
/// of its own are therefore refused where the name comes in.
enum PublicName {
    /// A name's maximum length.
    static let maximumBytes = 128
    /// What a name is, as the end of a sentence.
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
