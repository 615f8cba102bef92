/// The schemes of the web.
public enum WebScheme: String, Hashable, Sendable {
    /// Plain HTTP.
    case http
    /// HTTP over TLS.
    case https

    /// The default port of the scheme.
    public var defaultPort: UInt16 { self == .http ? 80 : 443 }

    /// Reads a scheme and the `//` after it.
    ///
    /// - Parameter bytes: A text that begins with them.
    /// - Returns: The scheme, and the bytes after `//`.
    /// - Throws: The reason, if there is another scheme or no `//`.
    package static func reading(_ bytes: ArraySlice<UInt8>) throws(AddressRefusal) -> (WebScheme, ArraySlice<UInt8>) {
        let name = bytes.prefix(6).prefix { $0 != UInt8(ascii: ":") }
        guard bytes.dropFirst(name.count).first == UInt8(ascii: ":"),
            let scheme = WebScheme(rawValue: String(decoding: name.map(AddressBytes.lowercased), as: UTF8.self))
        else { throw AddressRefusal(.scheme, "the scheme is not http or https; write https://") }
        let rest = bytes.dropFirst(name.count + 1)
        guard rest.starts(with: "//".utf8) else {
            throw AddressRefusal(.form, "the scheme is not followed by two slashes; write https://")
        }
        return (scheme, rest.dropFirst(2))
    }
}

/// The origin of a URL: scheme, host and port (RFC 6454, section 4). Origins are compared by these parts, never by
/// text.
public struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of an origin's text in bytes: a scheme, the longest host, a port.
    static let maximumBytes = 300

    /// The scheme.
    public let scheme: WebScheme
    /// The host.
    public let host: Host
    /// The port; the scheme's default if none was written.
    public let port: UInt16

    /// Creates an origin from its parts.
    ///
    /// - Parameters:
    ///   - scheme: The scheme.
    ///   - host: The host.
    ///   - port: The port; `nil` for the scheme's default.
    public init(scheme: WebScheme, host: Host, port: UInt16? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
    }

    /// Parses an origin: `https://api.example`, `http://api.example:8080`, in ASCII, with nothing after it.
    ///
    /// - Parameter text: The text.
    /// - Throws: The reason, if the text is not an origin.
    public init(_ text: some StringProtocol) throws(AddressRefusal) {
        let (scheme, rest) = try WebScheme.reading(try Self.bytes(of: text))
        let authority = try Authority(rest)
        self.init(scheme: scheme, host: try Host(ascii: authority.host), port: authority.port)
    }

    /// Returns the bytes of an origin's text after checking their number and that there is no path or query.
    ///
    /// - Parameter text: The text.
    static func bytes(of text: some StringProtocol) throws(AddressRefusal) -> ArraySlice<UInt8> {
        guard text.utf8.count <= maximumBytes else {
            throw AddressRefusal(.tooLong, "the origin is longer than \(maximumBytes) bytes")
        }
        let bytes = Array(text.utf8)[...]
        guard !bytes.dropFirst(8).contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) else {
            throw AddressRefusal(.form, "an origin has no path and no query; write https://api.example")
        }
        return bytes
    }

    /// The canonical text, without the scheme's own port (RFC 6454, section 6.2).
    public var text: String {
        let start = "\(scheme.rawValue)://\(host.text)"
        return port == scheme.defaultPort ? start : "\(start):\(port)"
    }

    /// The same as `text`.
    public var description: String { text }
}
