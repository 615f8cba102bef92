import CPublicSuffix

extension Host {
    /// The maximum length of a name in UTF-8 in bytes. A name of 253 bytes in A-labels has at most about 240 characters
    /// of four bytes each.
    public static let maximumInternationalBytes = 1024

    /// Parses a host in any script. Names are converted to A-labels by UTS 46 without its transitional forms, which
    /// would convert `ß` to `ss`.
    ///
    /// - Parameter text: A name, an IPv4 address as four decimal numbers, or an IPv6 address in brackets.
    /// - Throws: The reason, if the text is no host. Digits in another form, such as full-width ones, do not form an
    ///   address.
    public init(_ text: some StringProtocol) throws(AddressRefusal) {
        guard text.utf8.count <= Self.maximumInternationalBytes else { throw Self.tooLong }
        try self.init(bytes: Array(text.utf8)[...])
    }

    /// Parses a host from bytes in UTF-8.
    ///
    /// - Parameter bytes: The bytes, in the form of the text of `init(_:)`.
    /// - Throws: The reason, if they are no host.
    init(bytes: ArraySlice<UInt8>) throws(AddressRefusal) {
        guard bytes.contains(where: { $0 >= 0x80 }) else {
            try self.init(ascii: bytes)
            return
        }
        guard bytes.count <= Self.maximumInternationalBytes else { throw Self.tooLong }
        guard !bytes.contains(0), let labels = Self.internationalLabels(bytes) else {
            throw AddressRefusal(.internationalName, "the host has characters that are not allowed in a host")
        }
        // Characters outside ASCII may become a slash, a percent sign or digits, so the result is checked like any
        // other host.
        try self.init(ascii: labels[...])
        if address != nil { throw Self.unusualAddress }
    }

    /// Returns the A-labels of a name; `nil` if it cannot be converted.
    private static func internationalLabels(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var labels: UnsafeMutablePointer<CChar>?
        let flags = Int32(truncatingIfNeeded: IDN2_NONTRANSITIONAL.rawValue)
        let result = text.withCString { idn2_to_ascii_8z($0, &labels, flags) }
        defer { idn2_free(labels) }
        guard result == IDN2_OK.rawValue, let labels else { return nil }
        return Array(String(cString: labels).utf8)
    }
}

extension WebOrigin {
    /// The maximum length of an origin's text in bytes: a scheme, the longest host in any script, a port.
    static let maximumInternationalBytes = Host.maximumInternationalBytes + 16

    /// Parses an origin with a host in any script: `https://bücher.example` is the origin
    /// `https://xn--bcher-kva.example`.
    ///
    /// - Parameter text: The text, in the form of the text of `init(_:)`.
    /// - Throws: The reason, if the text is not an origin.
    public init(international text: some StringProtocol) throws(AddressRefusal) {
        guard text.utf8.count <= Self.maximumInternationalBytes else {
            throw AddressRefusal(.tooLong, "the origin is longer than \(Self.maximumInternationalBytes) bytes")
        }
        let (scheme, rest) = try WebScheme.reading(Array(text.utf8)[...])
        let authority = try Authority(rest)
        self.init(scheme: scheme, host: try Host(bytes: authority.host), port: authority.port)
    }
}
