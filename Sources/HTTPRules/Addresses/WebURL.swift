/// A URL of the web, in its one canonical form: `http` or `https`, a checked host, no user, the scheme's own port left
/// out, no dot segments, and percent signs where characters need them.
///
/// What two parsers could read in two ways is refused. `text` is what is given to the transport: what it finds in it is
/// what was checked. Two URLs are equal where they have the same text and the same fragment.
public struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a URL, as it is written and in its canonical form: what servers commonly take.
    public static let maximumBytes = 8192

    /// Scheme, host and port.
    public let origin: WebOrigin
    /// The path, percent-encoded; it begins with a slash.
    public let path: String
    /// What is behind `?`, percent-encoded; nil where there is none, which is not the same as an empty one.
    public let query: String?
    /// What is behind `#`, percent-encoded; nil where there is none. It is not sent.
    public let fragment: String?
    /// The canonical form without the fragment.
    public let text: String

    /// The scheme.
    public var scheme: WebScheme { origin.scheme }
    /// The host.
    public var host: Host { origin.host }
    /// The port; the scheme's own where none is written.
    public var port: UInt16 { origin.port }
    /// The canonical form with the fragment.
    public var textWithFragment: String { fragment.map { "\(text)#\($0)" } ?? text }
    /// The same as `textWithFragment`.
    public var description: String { textWithFragment }

    /// The URL that a text says.
    ///
    /// - Parameter text: An absolute URL.
    /// - Throws: The reason, where it says none.
    public init(_ text: String) throws(AddressRefusal) {
        guard text.utf8.count <= Self.maximumBytes else { throw Self.tooLong }
        try self.init(bytes: Array(text.utf8))
    }

    /// The URL that bytes say, such as those of a header.
    ///
    /// - Parameter bytes: An absolute URL; bytes beyond ASCII in path and query are kept, percent-encoded.
    /// - Throws: The reason, where they say none.
    public init(bytes: [UInt8]) throws(AddressRefusal) {
        try Self.check(bytes)
        let (scheme, rest) = try WebScheme.reading(bytes[...])
        try self.init(scheme: scheme, rest: rest)
    }

    /// The URL of a scheme and what follows its `//`.
    private init(scheme: WebScheme, rest: ArraySlice<UInt8>) throws(AddressRefusal) {
        let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        let authority = try Authority(rest[..<end])
        let origin = WebOrigin(scheme: scheme, host: try Host(bytes: authority.host), port: authority.port)
        let tail = URLTail(rest[end...])
        try self.init(origin: origin, path: tail.path, query: tail.query, fragment: tail.fragment)
    }

    /// The URL of its parts as they are written.
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

    /// What holds for the whole of a URL or a reference: its length, and that no character is there that parsers drop.
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
    /// The URL that a reference means, where this one is the base (RFC 3986, section 5.2.2).
    ///
    /// - Parameter reference: A relative reference or an absolute URL.
    /// - Returns: The URL.
    /// - Throws: The reason, where the reference says none.
    public func resolving(_ reference: String) throws(AddressRefusal) -> WebURL {
        guard reference.utf8.count <= Self.maximumBytes else { throw Self.tooLong }
        return try resolving(bytes: Array(reference.utf8))
    }

    /// The URL that a reference means, where this one is the base (RFC 3986, section 5.2.2).
    ///
    /// - Parameter bytes: A relative reference or an absolute URL, such as the value of a header.
    /// - Returns: The URL.
    /// - Throws: The reason, where the reference says none.
    public func resolving(bytes: [UInt8]) throws(AddressRefusal) -> WebURL {
        if Self.hasScheme(bytes) { return try WebURL(bytes: bytes) }
        try Self.check(bytes)
        if bytes.starts(with: "//".utf8) { return try WebURL(scheme: scheme, rest: bytes[2...]) }
        let tail = URLTail(bytes[...])
        let query = tail.path.isEmpty ? tail.query ?? self.query.map { Array($0.utf8)[...] } : tail.query
        return try WebURL(origin: origin, path: merged(tail.path), query: query, fragment: tail.fragment)
    }

    /// Where a redirect leads: the reference of `Location`, with this URL's fragment where it has none of its own
    /// (RFC 9110, section 10.2.2).
    ///
    /// - Parameter location: The value of the header.
    /// - Returns: The URL.
    /// - Throws: The reason, where the reference says none.
    public func redirected(to location: [UInt8]) throws(AddressRefusal) -> WebURL {
        let target = try resolving(bytes: location)
        guard let fragment, target.fragment == nil else { return target }
        return try target.resolving("#\(fragment)")
    }

    /// The same URL over TLS (RFC 6797, section 8.3): `https`, and its port for that of `http`; any other port stays.
    ///
    /// - Returns: The URL; this one where it is `https` already.
    /// - Throws: Where it becomes longer than a URL may be.
    public func upgraded() throws(AddressRefusal) -> WebURL {
        guard scheme == .http else { return self }
        let origin = WebOrigin(scheme: .https, host: host, port: port == scheme.defaultPort ? nil : port)
        return try WebURL(
            origin: origin, path: Array(path.utf8)[...], query: query.map { Array($0.utf8)[...] },
            fragment: fragment.map { Array($0.utf8)[...] })
    }

    /// A path of a reference as seen from this URL's path (RFC 3986, section 5.2.3).
    private func merged(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if path.isEmpty { return Array(self.path.utf8)[...] }
        if path.first == UInt8(ascii: "/") { return path }
        let own = Array(self.path.utf8)
        return own[...(own.lastIndex(of: UInt8(ascii: "/")) ?? 0)] + path
    }

    /// Whether a reference begins with a scheme (RFC 3986, section 3.1).
    private static func hasScheme(_ bytes: [UInt8]) -> Bool {
        guard let end = bytes.firstIndex(where: { ":/?#".utf8.contains($0) }), bytes[end] == UInt8(ascii: ":") else {
            return false
        }
        return true
    }
}
