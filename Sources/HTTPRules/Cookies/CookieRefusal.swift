/// Why a cookie is not taken.
public struct CookieRefusal: Error, Hashable, Sendable {
    /// The kind of the reason.
    public struct Reason: Hashable, Sendable {
        /// Its name, as it stands in the data of the error `cookie.refused`.
        public let name: String

        /// Its domain is a public suffix.
        public static let publicSuffix = Reason(name: "public_suffix")
        /// Its domain is none, or not the host's own or one above it.
        public static let domain = Reason(name: "domain")
        /// It is Secure and does not come over a secure connection, would hide a Secure one, or lacks the attribute
        /// that `SameSite=None` and `Partitioned` need.
        public static let secure = Reason(name: "secure")
        /// Its name begins with a prefix, whose promise its attributes do not keep.
        public static let prefix = Reason(name: "prefix")
        /// A script would set or replace a cookie that scripts do not see.
        public static let httpOnly = Reason(name: "http_only")
        /// It is too long.
        public static let tooLarge = Reason(name: "too_large")
        /// It is kept from other sites, and another site's request would set it.
        public static let sameSite = Reason(name: "same_site")
        /// It has a control character, or neither name nor value, or what no line can say.
        public static let invalid = Reason(name: "invalid")
    }

    /// The kind of the reason.
    public let reason: Reason

    /// A refusal.
    ///
    /// - Parameter reason: Its kind.
    init(_ reason: Reason) { self.reason = reason }
}
