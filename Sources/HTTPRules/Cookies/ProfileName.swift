/// The name of a profile: a set of a user's cookies, with the other data that is stored separately for it.
public struct ProfileName: Hashable, Sendable {
    /// The profile that is used if none is specified.
    public static let standard = ProfileName(checked: "default")
    /// The maximum length of a name in bytes, without the prefix.
    public static let maximumBytes = 64
    /// The form of a name, for error messages.
    public static let form = "1 to \(maximumBytes) letters, digits, -, _ and ., optionally after the prefix private:"

    private static let privatePrefix = "private:"

    /// The name.
    public let text: String

    private init(checked text: String) { self.text = text }

    /// Creates a name from a caller's text.
    ///
    /// - Parameter text: The name.
    /// - Returns: The name; `nil` if the text is none.
    public init?(_ text: String) {
        let rest = text.hasPrefix(Self.privatePrefix) ? text.dropFirst(Self.privatePrefix.count) : text[...]
        let isName =
            (1...Self.maximumBytes).contains(rest.utf8.count)
            && rest.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        guard isName else { return nil }
        self.text = text
    }

    /// Creates a name from a store.
    ///
    /// - Parameter text: The name, checked before it was stored.
    public init(stored text: String) { self.text = text }

    /// Whether the profile is kept in memory only.
    public var isPrivate: Bool { text.hasPrefix(Self.privatePrefix) }
}
