/// The reason why a text is not accepted as a host, an origin or a URL. Each part that two parsers could interpret
/// differently is refused, not repaired.
public struct AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the reason, for programs.
    public struct Reason: Hashable, Sendable {
        /// The reason's name, as used in an error's data.
        public let name: String

        /// The scheme is not `http` or `https`.
        public static let scheme = Reason(name: "scheme")
        /// The text does not have the required form.
        public static let form = Reason(name: "form")
        /// The host has a user or a password before it.
        public static let userInformation = Reason(name: "user_information")
        /// The host is empty, or has an empty or too long label.
        public static let host = Reason(name: "host")
        /// The host has a character that is not allowed in hosts.
        public static let character = Reason(name: "character")
        /// The host is written with percent signs.
        public static let percentEncoding = Reason(name: "percent_encoding")
        /// The host has characters outside ASCII and cannot be converted to A-labels.
        public static let internationalName = Reason(name: "international_name")
        /// The host is a number or an address in a form that is not canonical.
        public static let address = Reason(name: "address")
        /// The port is not a number from 1 to 65535.
        public static let port = Reason(name: "port")
        /// The text has a control character, a line end or a tab.
        public static let controlCharacter = Reason(name: "control_character")
        /// The text has a backslash, which some parsers treat as a slash.
        public static let backslash = Reason(name: "backslash")
        /// The text has a space where none is allowed.
        public static let space = Reason(name: "space")
        /// The text is too long.
        public static let tooLong = Reason(name: "too_long")
    }

    /// The kind of the reason.
    public let reason: Reason
    /// The error, and the correct form to write instead.
    public let description: String

    /// Creates a refusal.
    ///
    /// - Parameters:
    ///   - reason: The kind of the reason.
    ///   - description: The error, and the correct form to write instead; without any part of the text itself.
    package init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
