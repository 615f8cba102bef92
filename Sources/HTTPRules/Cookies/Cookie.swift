/// The attribute of a cookie for requests of other sites.
public enum SameSite: Int, Hashable, Sendable {
    /// Not specified, which counts as `lax`.
    case unset = 0
    /// The cookie is sent with every request.
    case none = 1
    /// The cookie is sent with requests of its own site, and when the user follows a link.
    case lax = 2
    /// The cookie is sent with requests of its own site only.
    case strict = 3
}

/// A stored cookie. Name and value are bytes.
public struct Cookie: Hashable, Sendable {
    /// The identity of a cookie: of two cookies with the same key the later one replaces the earlier one.
    public struct Key: Hashable, Sendable {
        /// The top-level site, or empty.
        public var partition: String
        /// The host or the domain.
        public var host: Host
        /// Whether the cookie is sent to the host only.
        public var hostOnly: Bool
        /// The path.
        public var path: String
        /// The name.
        public var name: [UInt8]

        /// Creates a key from its parts.
        ///
        /// - Parameters:
        ///   - partition: The top-level site, or empty.
        ///   - host: The host or the domain.
        ///   - hostOnly: Whether the cookie is sent to the host only.
        ///   - path: The path.
        ///   - name: The name.
        public init(partition: String = "", host: Host, hostOnly: Bool, path: String, name: [UInt8]) {
            self.partition = partition
            self.host = host
            self.hostOnly = hostOnly
            self.path = path
            self.name = name
        }
    }

    /// The text of the top-level site under which a `Partitioned` cookie is stored; empty for all others.
    public var partition = ""
    /// The host that receives the cookie; if `hostOnly` is false, the names below it receive it too.
    public var host: Host
    /// Whether the cookie is sent to the host only.
    public var hostOnly: Bool
    /// The path, with a scalar for each byte; it begins with a slash.
    public var path: String
    /// The name; empty if the cookie has only a value.
    public var name: [UInt8]
    /// The value.
    public var value: [UInt8]
    /// The time of expiry; `nil` for a session cookie.
    public var expires: UnixTime?
    /// The time at which the cookie was first set.
    public var created: UnixTime
    /// The time at which the cookie was last set or sent.
    public var accessed: UnixTime
    /// Whether the cookie is sent over secure connections only.
    public var secure = false
    /// Whether the cookie is hidden from scripts.
    public var httpOnly = false
    /// The rule for requests of other sites.
    public var sameSite = SameSite.unset
    /// Whether the cookie arrived over a secure connection.
    public var sourceSecure = false
    /// Whether a session cookie is kept after the session.
    public var persist = false
    /// Whether no copy of the store may remove the cookie.
    public var pin = false

    /// The identity of the cookie.
    public var key: Key { Key(partition: partition, host: host, hostOnly: hostOnly, path: path, name: name) }

    /// Creates a session cookie without attributes.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    ///   - host: The host or the domain.
    ///   - hostOnly: Whether the cookie is sent to the host only.
    ///   - path: The path.
    ///   - created: The time at which the cookie is set.
    public init(
        name: [UInt8], value: [UInt8], host: Host, hostOnly: Bool = true, path: String = "/", created: UnixTime
    ) {
        self.name = name
        self.value = value
        self.host = host
        self.hostOnly = hostOnly
        self.path = path
        self.created = created
        accessed = created
    }

    /// The total length of the parts that the server chose, in bytes: name, value, path and partition.
    public var sizeBytes: Int { name.count + value.count + path.utf8.count + partition.utf8.count }

    /// Returns whether the cookie has expired.
    ///
    /// - Parameter now: The time.
    public func isExpired(at now: UnixTime) -> Bool { expires.map { $0 <= now } ?? false }

    /// Returns whether two cookies are equal except for the times at which they were set and used.
    ///
    /// - Parameter other: The other cookie.
    public func isSame(as other: Cookie) -> Bool {
        var other = other
        other.created = created
        other.accessed = accessed
        return other == self
    }
}

/// The lifetime of cookies.
public enum CookieLifetime {
    /// The maximum lifetime (draft-ietf-httpbis-rfc6265bis-22, section 5.5): 400 days.
    public static let maximumSeconds: Int64 = 400 * 86400

    /// Returns the latest permitted expiry of a cookie that is set now.
    ///
    /// - Parameter now: The time.
    public static func latestEnd(at now: UnixTime) -> UnixTime { end(after: maximumSeconds, from: now) }

    /// Returns the moment after a number of seconds from now, limited to the range of ``UnixTime``.
    ///
    /// - Parameters:
    ///   - seconds: The number of seconds.
    ///   - now: The time.
    static func end(after seconds: Int64, from now: UnixTime) -> UnixTime {
        let (sum, overflow) = now.seconds.addingReportingOverflow(seconds)
        return UnixTime(seconds: overflow ? (seconds > 0 ? .max : .min) : sum)
    }
}
