/// The reason why a cookie is refused.
public struct CookieRefusal: Error, Hashable, Sendable {
    /// The kind of the reason.
    public struct Reason: Hashable, Sendable {
        /// The reason's name, as used in the data of the error `cookie.refused`.
        public let name: String

        /// The cookie's domain is a public suffix.
        public static let publicSuffix = Reason(name: "public_suffix")
        /// The cookie's domain is invalid, or is neither the host's own nor one above it.
        public static let domain = Reason(name: "domain")
        /// The cookie is Secure without a secure connection, would hide a Secure cookie, or lacks the attribute
        /// `Secure` that `SameSite=None` and `Partitioned` require.
        public static let secure = Reason(name: "secure")
        /// The cookie's name begins with a prefix whose guarantees its attributes do not fulfil.
        public static let prefix = Reason(name: "prefix")
        /// A script would set or replace a cookie that is hidden from scripts.
        public static let httpOnly = Reason(name: "http_only")
        /// The cookie is too long.
        public static let tooLarge = Reason(name: "too_large")
        /// The cookie is restricted to its own site, and a request of another site would set it.
        public static let sameSite = Reason(name: "same_site")
        /// The cookie has a control character, or neither name nor value, or content that a line cannot contain.
        public static let invalid = Reason(name: "invalid")
    }

    /// The kind of the reason.
    public let reason: Reason

    /// Creates a refusal.
    ///
    /// - Parameter reason: The kind of the reason.
    init(_ reason: Reason) { self.reason = reason }
}
