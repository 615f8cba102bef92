/// A site: a scheme and a registrable domain, or a host that has none (HTML, "obtain a site").
public struct Site: Hashable, Sendable, CustomStringConvertible {
    /// The scheme.
    public let scheme: WebScheme
    /// The registrable domain; the host itself if it is an address or a public suffix.
    public let host: Host

    /// The text, `https://example.com`.
    public var text: String { "\(scheme.rawValue)://\(host.text)" }
    /// The same as `text`.
    public var description: String { text }
}
