/// What a cookie says about requests of other sites.
public enum SameSite: Int, Hashable, Sendable {
    /// Nothing, which counts as `lax`.
    case unset = 0
    /// It goes with every request.
    case none = 1
    /// It goes with those of its own site, and where somebody follows a link.
    case lax = 2
    /// It goes with those of its own site.
    case strict = 3
}

/// A stored cookie. Name and value are bytes.
public struct Cookie: Hashable, Sendable {
    /// What makes a cookie another one: of two with the same key the later one replaces the earlier one.
    public struct Key: Hashable, Sendable {
        /// The top-level site, or empty.
        public var partition: String
        /// The host or the domain.
        public var host: Host
        /// Whether it goes to the host alone.
        public var hostOnly: Bool
        /// The path.
        public var path: String
        /// The name.
        public var name: [UInt8]

        /// A key of its parts.
        ///
        /// - Parameters:
        ///   - partition: The top-level site, or empty.
        ///   - host: The host or the domain.
        ///   - hostOnly: Whether it goes to the host alone.
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

    /// The text of the top-level site that a `Partitioned` cookie is kept under; empty of all others.
    public var partition = ""
    /// The host that it goes to, and with `hostOnly` false also the names below it.
    public var host: Host
    /// Whether it goes to the host alone.
    public var hostOnly: Bool
    /// The path, with a scalar for each byte; it begins with a slash.
    public var path: String
    /// The name; empty of a cookie that has a value alone.
    public var name: [UInt8]
    /// The value.
    public var value: [UInt8]
    /// When it ends; nil of a session's cookie.
    public var expires: UnixTime?
    /// When it was first set.
    public var created: UnixTime
    /// When it was last set or sent.
    public var accessed: UnixTime
    /// Whether it goes over secure connections alone.
    public var secure = false
    /// Whether scripts do not see it.
    public var httpOnly = false
    /// What holds for requests of other sites.
    public var sameSite = SameSite.unset
    /// Whether a secure connection brought it.
    public var sourceSecure = false
    /// Whether a session's cookie outlives the session.
    public var persist = false
    /// Whether no copy of the store may remove it.
    public var pin = false

    /// What makes it another cookie.
    public var key: Key { Key(partition: partition, host: host, hostOnly: hostOnly, path: path, name: name) }

    /// A cookie of a session, with no attributes.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    ///   - host: The host or the domain.
    ///   - hostOnly: Whether it goes to the host alone.
    ///   - path: The path.
    ///   - created: When it is set.
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

    /// The bytes of what its owner chose: name, value, path and partition.
    public var sizeBytes: Int { name.count + value.count + path.utf8.count + partition.utf8.count }

    /// Whether it has ended.
    ///
    /// - Parameter now: The time.
    public func isExpired(at now: UnixTime) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether two cookies differ in nothing but when they were set and used.
    ///
    /// - Parameter other: The other.
    public func isSame(as other: Cookie) -> Bool {
        var other = other
        other.created = created
        other.accessed = accessed
        return other == self
    }
}

/// How long cookies live.
public enum CookieLifetime {
    /// The longest life (draft-ietf-httpbis-rfc6265bis-22, section 5.5): 400 days.
    public static let maximumSeconds: Int64 = 400 * 86400

    /// The latest moment at which a cookie of now may end.
    ///
    /// - Parameter now: The time.
    public static func latestEnd(at now: UnixTime) -> UnixTime { end(after: maximumSeconds, from: now) }

    /// The moment so many seconds from now, cut to what can be said.
    ///
    /// - Parameters:
    ///   - seconds: How many.
    ///   - now: The time.
    static func end(after seconds: Int64, from now: UnixTime) -> UnixTime {
        let (sum, overflow) = now.seconds.addingReportingOverflow(seconds)
        return UnixTime(seconds: overflow ? (seconds > 0 ? .max : .min) : sum)
    }
}
