/// A name of the policy verb `reach`: an origin, `https://api.example`, or all origins below a domain,
/// `https://*.example.com`. Without a port it means the scheme's own port.
///
/// The daemon's policy, requests and pages compare by `matches` alone. That the domain behind `*.` is no public suffix
/// is the question of `PublicSuffixList.isTooWide`: the pattern itself knows no list.
public struct OriginPattern: Hashable, Sendable, CustomStringConvertible {
    /// The origin; with `isBelow` that of the domain behind `*.`.
    public let origin: WebOrigin
    /// Whether the hosts below the domain are meant, and not the domain itself.
    public let isBelow: Bool

    /// The pattern that a text says.
    ///
    /// - Parameter text: `https://api.example`, `https://*.example.com:8443`; in ASCII.
    /// - Throws: The reason, where it says none.
    public init(_ text: some StringProtocol) throws(AddressRefusal) {
        let (scheme, rest) = try WebScheme.reading(try WebOrigin.bytes(of: text))
        let authority = try Authority(rest)
        isBelow = authority.host.starts(with: "*.".utf8)
        let host = try Host(ascii: isBelow ? authority.host.dropFirst(2) : authority.host)
        guard !isBelow || host.isName else {
            throw AddressRefusal(.address, "nothing is below an address; write the address itself")
        }
        origin = WebOrigin(scheme: scheme, host: host, port: authority.port)
    }

    /// Whether an origin is the pattern's, or has one label or more in front of its domain.
    ///
    /// - Parameter other: The origin.
    public func matches(_ other: WebOrigin) -> Bool {
        guard other.scheme == origin.scheme, other.port == origin.port else { return false }
        return isBelow ? other.host.isBelow(origin.host) : other.host == origin.host
    }

    /// Whether this pattern matches every origin that another one matches.
    ///
    /// - Parameter other: The other pattern.
    public func covers(_ other: OriginPattern) -> Bool {
        if !other.isBelow || isBelow && matches(other.origin) { return matches(other.origin) }
        return self == other
    }

    /// Whether it means all hosts below a domain of one label, which is a public suffix. Most other suffixes, such as
    /// `co.uk`, are known to `PublicSuffixList.isTooWide` alone.
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
