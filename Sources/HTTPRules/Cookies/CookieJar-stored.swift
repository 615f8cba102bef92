extension CookieJar {
    /// A cookie and the version of its last change.
    public struct Stored: Hashable, Sendable {
        /// The cookie.
        public var cookie: Cookie
        /// The version.
        public var version: UInt64

        /// Creates a stored cookie.
        ///
        /// - Parameters:
        ///   - cookie: The cookie.
        ///   - version: The version.
        public init(cookie: Cookie, version: UInt64) {
            self.cookie = cookie
            self.version = version
        }
    }
}
