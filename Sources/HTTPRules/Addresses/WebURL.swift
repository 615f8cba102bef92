/// A URL of the web in its single canonical form: `http` or `https`, a checked host, no user, no default port, no dot
/// segments, and percent-encoding where characters require it.
///
/// A text that two parsers could interpret differently is refused. The transport receives `text`, so it uses exactly
/// what was checked. Two URLs are equal if they have the same text and the same fragment.
public struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a URL in bytes, as written and in its canonical form. Servers commonly accept this length.
    public static let maximumBytes = 8192

    /// Scheme, host and port.
    public let origin: WebOrigin
    /// The path, percent-encoded; it begins with a slash.
    public let path: String
    /// The query after `?`, percent-encoded; `nil` if there is none, which differs from an empty query.
    public let query: String?
    /// The fragment after `#`, percent-encoded; `nil` if there is none. It is not sent.
    public let fragment: String?
    /// The canonical form without the fragment.
    public let text: String

    /// The scheme.
    public var scheme: WebScheme { origin.scheme }
    /// The host.
    public var host: Host { origin.host }
    /// The port; the scheme's default if none is written.
    public var port: UInt16 { origin.port }
    /// The canonical form with the fragment.
    public var textWithFragment: String { fragment.map { "\(text)#\($0)" } ?? text }
    /// The same as `textWithFragment`.
    public var description: String { textWithFragment }

    /// Parses a URL.
    ///
    /// - Parameter text: An absolute URL.
    /// - Throws: The reason, if the text is not a URL.
    public init(_ text: String) throws(AddressRefusal) {
        guard text.utf8.count <= Self.maximumBytes else { throw Self.tooLong }
        try self.init(bytes: Array(text.utf8))
    }

    /// Parses a URL from bytes, such as those of a header.
    ///
    /// - Parameter bytes: An absolute URL; bytes outside ASCII in path and query are kept, percent-encoded.
    /// - Throws: The reason, if they are no URL.
    public init(bytes: [UInt8]) throws(AddressRefusal) {
        try Self.check(bytes)
        let (scheme, rest) = try WebScheme.reading(bytes[...])
        try self.init(scheme: scheme, rest: rest)
    }

    /// Creates a URL from a scheme and the bytes after its `//`.
    private init(scheme: WebScheme, rest: ArraySlice<UInt8>) throws(AddressRefusal) {
        let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        let authority = try Authority(rest[..<end])
        let origin = WebOrigin(scheme: scheme, host: try Host(bytes: authority.host), port: authority.port)
        let tail = URLTail(rest[end...])
        try self.init(origin: origin, path: tail.path, query: tail.query, fragment: tail.fragment)
    }

    /// Creates a URL from its parts as they are written.
    private init(
        origin: WebOrigin, path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?, fragment: ArraySlice<UInt8>?
    ) throws(AddressRefusal) {
        self.origin = origin
        self.path = String(decoding: try URLTail.canonicalPath(path), as: UTF8.self)
        self.query = query.map { Self.encoded($0, in: .query) }
        self.fragment = fragment.map { Self.encoded($0, in: .fragment) }
        text = "\(origin.text)\(self.path)\(self.query.map { "?\($0)" } ?? "")"
        guard textWithFragment.utf8.count <= Self.maximumBytes else { throw Self.tooLong }
    }

    private static func encoded(_ bytes: ArraySlice<UInt8>, in part: PercentEncoding.Part) -> String {
        var text: [UInt8] = []
        PercentEncoding.append(bytes, in: part, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Checks the whole of a URL or a reference: its length, and that it has no characters that parsers remove.
    private static func check(_ bytes: [UInt8]) throws(AddressRefusal) {
        guard bytes.count <= maximumBytes else { throw tooLong }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw AddressRefusal(.controlCharacter, "the URL has a control character; write it percent-encoded")
        }
        guard bytes.first != UInt8(ascii: " "), bytes.last != UInt8(ascii: " ") else {
            throw AddressRefusal(.space, "the URL has a space before or after it; leave it out")
        }
    }

    private static let tooLong = AddressRefusal(.tooLong, "the URL is longer than \(maximumBytes) bytes")
}

extension WebURL {
    /// Resolves a reference with this URL as the base (RFC 3986, section 5.2.2).
    ///
    /// - Parameter reference: A relative reference or an absolute URL.
    /// - Returns: The URL.
    /// - Throws: The reason, if the reference leads to no URL.
    public func resolving(_ reference: String) throws(AddressRefusal) -> WebURL {
        guard reference.utf8.count <= Self.maximumBytes else { throw Self.tooLong }
        return try resolving(bytes: Array(reference.utf8))
    }

    /// Resolves a reference with this URL as the base (RFC 3986, section 5.2.2).
    ///
    /// - Parameter bytes: A relative reference or an absolute URL, such as the value of a header.
    /// - Returns: The URL.
    /// - Throws: The reason, if the reference leads to no URL.
    public func resolving(bytes: [UInt8]) throws(AddressRefusal) -> WebURL {
        if Self.hasScheme(bytes) { return try WebURL(bytes: bytes) }
        try Self.check(bytes)
        if bytes.starts(with: "//".utf8) { return try WebURL(scheme: scheme, rest: bytes[2...]) }
        let tail = URLTail(bytes[...])
        let query = tail.path.isEmpty ? tail.query ?? self.query.map { Array($0.utf8)[...] } : tail.query
        return try WebURL(origin: origin, path: merged(tail.path), query: query, fragment: tail.fragment)
    }

    /// Returns the target of a redirect: the reference in `Location`, with this URL's fragment if it has none of its
    /// own (RFC 9110, section 10.2.2).
    ///
    /// - Parameter location: The value of the header.
    /// - Returns: The URL.
    /// - Throws: The reason, if the reference leads to no URL.
    public func redirected(to location: [UInt8]) throws(AddressRefusal) -> WebURL {
        let target = try resolving(bytes: location)
        guard let fragment, target.fragment == nil else { return target }
        return try target.resolving("#\(fragment)")
    }

    /// Returns the same URL over TLS (RFC 6797, section 8.3): `https`, with its default port in place of that of
    /// `http`. Any other port stays.
    ///
    /// - Returns: The URL; this one if it is `https` already.
    /// - Throws: The reason, if the result is longer than a URL may be.
    public func upgraded() throws(AddressRefusal) -> WebURL {
        guard scheme == .http else { return self }
        let origin = WebOrigin(scheme: .https, host: host, port: port == scheme.defaultPort ? nil : port)
        return try WebURL(
            origin: origin, path: Array(path.utf8)[...], query: query.map { Array($0.utf8)[...] },
            fragment: fragment.map { Array($0.utf8)[...] })
    }

    /// Returns the path of a reference relative to this URL's path (RFC 3986, section 5.2.3).
    private func merged(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if path.isEmpty { return Array(self.path.utf8)[...] }
        if path.first == UInt8(ascii: "/") { return path }
        let own = Array(self.path.utf8)
        return own[...(own.lastIndex(of: UInt8(ascii: "/")) ?? 0)] + path
    }

    /// Returns whether a reference begins with a scheme (RFC 3986, section 3.1).
    private static func hasScheme(_ bytes: [UInt8]) -> Bool {
        guard let end = bytes.firstIndex(where: { ":/?#".utf8.contains($0) }), bytes[end] == UInt8(ascii: ":") else {
            return false
        }
        return true
    }
}
