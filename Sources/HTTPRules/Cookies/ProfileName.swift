/// The name of a profile: a set of cookies of a user, with what else is kept apart with it.
public struct ProfileName: Hashable, Sendable {
    /// The profile that is meant where none is named.
    public static let standard = ProfileName(checked: "default")
    /// The most bytes of a name, the prefix not counted.
    public static let maximumBytes = 64
    /// What a name is, for errors.
    public static let form = "1 to \(maximumBytes) letters, digits, -, _ and ., private: in front"

    private static let privatePrefix = "private:"

    /// The name.
    public let text: String

    private init(checked text: String) { self.text = text }

    /// A name that a caller gives.
    ///
    /// - Parameter text: The name.
    /// - Returns: Nil where it is none.
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

    /// A name that is stored.
    ///
    /// - Parameter text: The name, checked before it was stored.
    public init(stored text: String) { self.text = text }

    /// Whether the profile is kept in memory only.
    public var isPrivate: Bool { text.hasPrefix(Self.privatePrefix) }
}
