/// Why a text is not taken as a host, an origin or a URL: each part that two parsers could read in two ways is refused,
/// and not repaired.
public struct AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the reason, for programs.
    public struct Reason: Hashable, Sendable {
        /// Its name, as it stands in an error's data.
        public let name: String

        /// The scheme is not `http` or `https`.
        public static let scheme = Reason(name: "scheme")
        /// The text has not the form of what it should be.
        public static let form = Reason(name: "form")
        /// A user or a password stands before the host.
        public static let userInformation = Reason(name: "user_information")
        /// The host is empty, or has an empty or too long label.
        public static let host = Reason(name: "host")
        /// The host has a character that is in no host.
        public static let character = Reason(name: "character")
        /// The host is written with percent signs.
        public static let percentEncoding = Reason(name: "percent_encoding")
        /// The host has characters beyond ASCII, and no A-labels could be made of it.
        public static let internationalName = Reason(name: "international_name")
        /// The host is a number or an address in a form that is not canonical.
        public static let address = Reason(name: "address")
        /// The port is no number from 1 to 65535.
        public static let port = Reason(name: "port")
        /// A control character, a line end or a tab.
        public static let controlCharacter = Reason(name: "control_character")
        /// A backslash, which some parsers take for a slash.
        public static let backslash = Reason(name: "backslash")
        /// A space where none can be.
        public static let space = Reason(name: "space")
        /// The text is too long.
        public static let tooLong = Reason(name: "too_long")
    }

    /// The kind of the reason.
    public let reason: Reason
    /// What is wrong, and what to write instead.
    public let description: String

    /// A refusal.
    ///
    /// - Parameters:
    ///   - reason: Its kind.
    ///   - description: What is wrong, and what to write instead; nothing of the text itself.
    package init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
