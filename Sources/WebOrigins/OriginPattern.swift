/// A name in rules with the policy verb `reach`: an origin, `https://api.example`, or all origins below a domain,
/// `https://*.example.com`. Without a port it means the scheme's own port.
///
/// The daemon's policy, requests and pages compare origins with `matches` only. `PublicSuffixList.isTooWide` checks
/// whether the domain after `*.` is a public suffix; the pattern itself uses no list.
public struct OriginPattern: Hashable, Sendable, CustomStringConvertible {
    /// The origin; if `isBelow`, the origin of the domain after `*.`.
    public let origin: WebOrigin
    /// Whether the pattern matches the hosts below the domain and not the domain itself.
    public let isBelow: Bool

    /// Parses a pattern.
    ///
    /// - Parameter text: `https://api.example`, `https://*.example.com:8443`; in ASCII.
    /// - Throws: The reason, if the text is no pattern.
    public init(_ text: some StringProtocol) throws(AddressRefusal) {
        let (scheme, rest) = try WebScheme.reading(try WebOrigin.bytes(of: text))
        let authority = try Authority(rest)
        isBelow = authority.host.starts(with: "*.".utf8)
        let host = try Host(ascii: isBelow ? authority.host.dropFirst(2) : authority.host)
        guard !isBelow || host.isName else {
            throw AddressRefusal(.address, "*. cannot precede an address; write the address itself")
        }
        origin = WebOrigin(scheme: scheme, host: host, port: authority.port)
    }

    /// Returns whether an origin equals the pattern's origin, or, if `isBelow`, has one or more labels before its
    /// domain.
    ///
    /// - Parameter other: The origin.
    public func matches(_ other: WebOrigin) -> Bool {
        guard other.scheme == origin.scheme, other.port == origin.port else { return false }
        return isBelow ? other.host.isBelow(origin.host) : other.host == origin.host
    }

    /// Returns whether this pattern matches every origin that another one matches.
    ///
    /// - Parameter other: The other pattern.
    public func covers(_ other: OriginPattern) -> Bool {
        if !other.isBelow || isBelow && matches(other.origin) { return matches(other.origin) }
        return self == other
    }

    /// Whether the pattern matches all hosts below a domain of one label, which is a public suffix. Most other
    /// suffixes, such as `co.uk`, require `PublicSuffixList.isTooWide`.
    public var isBelowSingleLabel: Bool { isBelow && !origin.host.text.utf8.contains(UInt8(ascii: ".")) }

    /// The canonical text.
    public var text: String {
        guard isBelow else { return origin.text }
        let start = "\(origin.scheme.rawValue)://*.\(origin.host.text)"
        return origin.port == origin.scheme.defaultPort ? start : "\(start):\(origin.port)"
    }

    /// The same as `text`.
    public var description: String { text }
}
