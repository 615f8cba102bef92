/// The name of an account, in a form that is safe to store, to log and to compare.
///
/// 1 to 256 bytes of UTF-8, no control characters and no line or paragraph separators, no white space at either end.
/// Names are compared byte for byte: upper and lower case differ, and so do two ways to compose one accented letter. A
/// name that does not have this form is rejected, never trimmed or converted.
struct UserName: Sendable, Hashable, CustomStringConvertible {
    /// The longest name, in bytes: an e-mail address (254) fits.
    static let maximumBytes = 256

    /// The name as it was given.
    let text: String

    /// Creates a name; `nil` if the text does not have the form of a name.
    init?(_ text: String) {
        guard (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
        guard !text.unicodeScalars.contains(where: Self.isForbidden) else { return nil }
        guard text.first?.isWhitespace == false, text.last?.isWhitespace == false else { return nil }
        self.text = text
    }

    // `String` compares by canonical equivalence, by which two different names may be equal.
    static func == (left: UserName, right: UserName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    var description: String { text }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
