/// What one `Set-Cookie` line says (draft-ietf-httpbis-rfc6265bis-22, section 5.6).
public struct SetCookie: Hashable, Sendable {
    /// The most bytes of a line: what is taken of all headers of an answer together.
    public static let maximumLineBytes = 65536
    /// The most bytes of name and value together; a longer cookie is refused.
    public static let maximumPairBytes = 4096
    /// The most bytes of an attribute's value; a longer one is ignored.
    public static let maximumAttributeBytes = 1024

    /// The attribute `Domain`.
    public enum Domain: Hashable, Sendable {
        /// It is not there, or empty: the cookie goes to the host alone.
        case none
        /// It says a host.
        case host(Host)
        /// It says none, so that the cookie is refused.
        case unreadable
    }

    /// The name; empty of a line without an equals sign.
    public var name: [UInt8]
    /// The value.
    public var value: [UInt8]
    /// The attribute `Domain`, without a dot in front.
    public var domain = Domain.none
    /// The attribute `Path`, with a scalar for each byte; nil where it is not there or does not begin with a slash, so
    /// that the default path holds.
    public var path: String?
    /// The attribute `Expires`, where it could be read.
    public var expires: UnixTime?
    /// The attribute `Max-Age` in seconds, where it could be read; numbers beyond what can be held are cut.
    public var maxAge: Int64?
    /// Whether `Secure` is there.
    public var secure = false
    /// Whether `HttpOnly` is there.
    public var httpOnly = false
    /// Whether `Partitioned` is there.
    public var partitioned = false
    /// The attribute `SameSite`; `unset` where it says none of the three.
    public var sameSite = SameSite.unset

    /// A line with a name and a value alone.
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
    /// - Throws: The reason, where the line has control characters, is too long, or has neither name nor value.
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

    /// Takes what is before the next semicolon, and that with it, off the rest.
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

    /// What is before and behind the first equals sign, without spaces at the ends; nil where there is none.
    private static func pair(_ piece: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { return (CookieBytes.trimmed(piece), nil) }
        return (CookieBytes.trimmed(piece[..<equals]), CookieBytes.trimmed(piece[(equals + 1)...]))
    }

    /// Takes an attribute; the last of a repeated one counts, where it can be read.
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

    /// The attribute `Max-Age` (section 5.6.2): digits, a minus in front perhaps.
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

    /// The attribute `Domain` (section 5.6.3), without the dot in front. A dot at the end makes it another name than
    /// the host's, as in browsers.
    private static func domain(_ value: ArraySlice<UInt8>) -> Domain {
        let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
        if name.isEmpty { return value.isEmpty ? .none : .unreadable }
        guard name.last != UInt8(ascii: "."), let host = try? Host(ascii: name) else { return .unreadable }
        return .host(host)
    }

    /// The attribute `SameSite` (section 5.6.7).
    private static func sameSite(_ value: ArraySlice<UInt8>) -> SameSite {
        guard value.count <= 6 else { return .unset }
        return switch String(decoding: value.map(AddressBytes.lowercased), as: UTF8.self) {
        case "none": .none
        case "lax": .lax
        case "strict": .strict
        default: .unset
        }
    }

    /// When the cookie ends: `Max-Age` beats `Expires` (section 5.7, step 6), and both are cut to 400 days.
    ///
    /// - Parameter now: The time.
    /// - Returns: The moment; nil where the session's end is the cookie's.
    public func end(at now: UnixTime) -> UnixTime? {
        if let maxAge {
            guard maxAge > 0 else { return UnixTime(seconds: .min) }
            return CookieLifetime.end(after: min(maxAge, CookieLifetime.maximumSeconds), from: now)
        }
        return expires.map { min($0, CookieLifetime.latestEnd(at: now)) }
    }
}
