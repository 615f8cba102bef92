/// The content of `Strict-Transport-Security`: RFC 6797.
public struct StrictTransport: Hashable, Sendable {
    /// The time for which the host must be reached only over TLS; zero ends the requirement.
    public let maxAge: Duration
    /// Whether this also applies to the hosts below it.
    public let includesSubdomains: Bool

    /// The maximum number of directives that are read. Only three are defined.
    public static let maximumDirectives = 64

    /// Parses the first such field of a response (RFC 6797, section 8.1); `nil` if there is none, or it is invalid: a
    /// repeated name, a missing `max-age`, or one that is not a number (section 6.1).
    ///
    /// - Parameter fields: The fields of a response that was received over TLS without any error.
    public init?(_ fields: HeaderList) {
        guard let value = fields.first(named: "Strict-Transport-Security") else { return nil }
        self.init(value)
    }

    /// Parses a value; `nil` if it is invalid.
    ///
    /// - Parameter value: The value, such as `max-age=31536000; includeSubDomains`.
    public init?(_ value: some StringProtocol) {
        var scanner = FieldScanner(value)
        var directives: [String: String?] = [:]
        repeat {
            scanner.skipWhitespace()
            guard let name = scanner.token() else { continue }
            var argument: String?
            scanner.skipWhitespace()
            if scanner.skip("=") {
                scanner.skipWhitespace()
                guard let text = scanner.tokenOrQuotedString() else { return nil }
                argument = text
                scanner.skipWhitespace()
            }
            guard directives.updateValue(argument, forKey: FieldText.lowercase(name)) == nil,
                directives.count <= Self.maximumDirectives
            else { return nil }
        } while scanner.skip(";")
        guard scanner.isAtEnd, let argument = directives["max-age"], let text = argument,
            let maxAge = DeltaSeconds.parse(text)
        else { return nil }
        if let flag = directives["includesubdomains"] {
            guard flag == nil else { return nil }
            includesSubdomains = true
        } else {
            includesSubdomains = false
        }
        self.maxAge = maxAge
    }

    /// Returns whether the requirement of a host applies to another host: RFC 6797, section 8.2. Do not pass addresses:
    /// the requirement never applies to them.
    ///
    /// - Parameters:
    ///   - known: The labels of the host that sent the field, in lower case, without an empty label for the root.
    ///   - includesSubdomains: Whether the field includes the hosts below it.
    ///   - host: The labels of the other host.
    public static func covers(_ known: [String], includesSubdomains: Bool, host: [String]) -> Bool {
        guard !known.isEmpty else { return false }
        return host == known
            || (includesSubdomains && host.count > known.count && Array(host.suffix(known.count)) == known)
    }
}
