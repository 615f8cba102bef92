/// The content of one `Set-Cookie` line (draft-ietf-httpbis-rfc6265bis-22, section 5.6).
public struct SetCookie: Hashable, Sendable {
    /// The maximum length of a line in bytes: the limit for all headers of a response together.
    public static let maximumLineBytes = 65536
    /// The maximum length of name and value together in bytes; a longer cookie is refused.
    public static let maximumPairBytes = 4096
    /// The maximum length of an attribute's value in bytes; a longer one is ignored.
    public static let maximumAttributeBytes = 1024

    /// The attribute `Domain`.
    public enum Domain: Hashable, Sendable {
        /// Missing or empty: the cookie is sent to the host only.
        case none
        /// A host.
        case host(Host)
        /// Not a host, so the cookie is refused.
        case unreadable
    }

    /// The name; empty if the line has no equals sign.
    public var name: [UInt8]
    /// The value.
    public var value: [UInt8]
    /// The attribute `Domain`, without a leading dot.
    public var domain = Domain.none
    /// The attribute `Path`, with one scalar for each byte; `nil` if it is missing or does not begin with a slash, in
    /// which case the default path applies.
    public var path: String?
    /// The attribute `Expires`; `nil` if it is missing or invalid.
    public var expires: UnixTime?
    /// The attribute `Max-Age` in seconds; `nil` if it is missing or invalid. Numbers that are too large are limited to
    /// the range of the type.
    public var maxAge: Int64?
    /// Whether `Secure` is present.
    public var secure = false
    /// Whether `HttpOnly` is present.
    public var httpOnly = false
    /// Whether `Partitioned` is present.
    public var partitioned = false
    /// The attribute `SameSite`; `unset` if it has none of the three values.
    public var sameSite = SameSite.unset

    /// Creates a line with only a name and a value.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    public init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// Reads a line.
    ///
    /// - Parameter line: The value of one `Set-Cookie` field.
    /// - Throws: The reason, if the line has control characters, is too long, or has neither name nor value.
    public init(line: [UInt8]) throws(CookieRefusal) {
        guard line.count <= Self.maximumLineBytes else { throw CookieRefusal(.tooLarge) }
        guard !CookieBytes.hasControl(line) else { throw CookieRefusal(.invalid) }
        var rest = line[...]
        let (first, second) = Self.pair(Self.piece(&rest))
        // A pair without an equals sign is a value.
        name = second == nil ? [] : Array(first)
        value = Array(second ?? first)
        try Self.checkSize(name: name, value: value)
        while !rest.isEmpty { take(Self.piece(&rest)) }
    }

    /// Removes the text before the next semicolon, and the semicolon, from the rest. Returns the text.
    private static func piece(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
        let piece = rest[..<end]
        rest = rest[min(end + 1, rest.endIndex)...]
        return piece
    }

    /// Refuses a cookie without name and value, and one that is too long.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    static func checkSize(name: [UInt8], value: [UInt8]) throws(CookieRefusal) {
        guard !name.isEmpty || !value.isEmpty else { throw CookieRefusal(.invalid) }
        guard name.count + value.count <= maximumPairBytes else { throw CookieRefusal(.tooLarge) }
    }

    /// Returns the text before and after the first equals sign, without spaces at the ends; `nil` as the second if
    /// there is no equals sign.
    private static func pair(_ piece: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { return (CookieBytes.trimmed(piece), nil) }
        return (CookieBytes.trimmed(piece[..<equals]), CookieBytes.trimmed(piece[(equals + 1)...]))
    }

    /// Stores an attribute. Of a repeated attribute the last one is used; an invalid `Expires` or `Max-Age` is ignored.
    private mutating func take(_ piece: ArraySlice<UInt8>) {
        let (name, written) = Self.pair(piece)
        let value = written ?? []
        guard (4...11).contains(name.count), value.count <= Self.maximumAttributeBytes else { return }
        switch String(decoding: name.map(AddressBytes.lowercased), as: UTF8.self) {
        case "expires": expires = CookieDate.read(value) ?? expires
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "domain": domain = Self.domain(value)
        case "path": path = value.first == UInt8(ascii: "/") ? CookieBytes.text(value) : nil
        case "secure": secure = true
        case "httponly": httpOnly = true
        case "partitioned": partitioned = true
        case "samesite": sameSite = Self.sameSite(value)
        default: break
        }
    }

    /// Parses the attribute `Max-Age` (section 5.6.2): digits with an optional minus sign.
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeToo) = product.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            number = isTooLarge || isTooLargeToo ? .max : sum
        }
        return isNegative ? -number : number
    }

    /// Parses the attribute `Domain` (section 5.6.3), without its leading dot. With a trailing dot it is a different
    /// name from the host's, as in browsers.
    private static func domain(_ value: ArraySlice<UInt8>) -> Domain {
        let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
        if name.isEmpty { return value.isEmpty ? .none : .unreadable }
        guard name.last != UInt8(ascii: "."), let host = try? Host(ascii: name) else { return .unreadable }
        return .host(host)
    }

    /// Parses the attribute `SameSite` (section 5.6.7).
    private static func sameSite(_ value: ArraySlice<UInt8>) -> SameSite {
        guard value.count <= 6 else { return .unset }
        return switch String(decoding: value.map(AddressBytes.lowercased), as: UTF8.self) {
        case "none": .none
        case "lax": .lax
        case "strict": .strict
        default: .unset
        }
    }

    /// Returns the expiry of the cookie: `Max-Age` takes precedence over `Expires` (section 5.7, step 6), and both are
    /// limited to 400 days.
    ///
    /// - Parameter now: The time.
    /// - Returns: The moment; `nil` for a session cookie.
    public func end(at now: UnixTime) -> UnixTime? {
        if let maxAge {
            guard maxAge > 0 else { return UnixTime(seconds: .min) }
            return CookieLifetime.end(after: min(maxAge, CookieLifetime.maximumSeconds), from: now)
        }
        return expires.map { min($0, CookieLifetime.latestEnd(at: now)) }
    }
}
