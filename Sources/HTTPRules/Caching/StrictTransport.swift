/// What `Strict-Transport-Security` says: RFC 6797.
public struct StrictTransport: Hashable, Sendable {
    /// How long a host is to be reached by TLS alone; zero: no longer.
    public let maxAge: Duration
    /// Whether that holds for the hosts below it too.
    public let includesSubdomains: Bool

    /// How many directives are read; there are three.
    public static let maximumDirectives = 64

    /// What the first such field of a response says (RFC 6797, section 8.1); nil where there is none, or where the
    /// field is not written right: a name twice, no `max-age`, one that is no number (section 6.1).
    ///
    /// - Parameter fields: The fields of a response that came over TLS without any fault.
    public init?(_ fields: HeaderList) {
        guard let value = fields.first(named: "Strict-Transport-Security") else { return nil }
        self.init(value)
    }

    /// What a value says; nil where it is not written right.
    ///
    /// - Parameter value: Such as `max-age=31536000; includeSubDomains`.
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

    /// Whether what a host has said holds for another: RFC 6797, section 8.2. Addresses are not given here: for them
    /// nothing of this holds.
    ///
    /// - Parameters:
    ///   - known: The labels of the host that said it, in small letters, without an empty one for the root.
    ///   - includesSubdomains: Whether it said so for hosts below it.
    ///   - host: The labels of the host that is asked about.
    public static func covers(_ known: [String], includesSubdomains: Bool, host: [String]) -> Bool {
        guard !known.isEmpty else { return false }
        return host == known
            || (includesSubdomains && host.count > known.count && Array(host.suffix(known.count)) == known)
    }
}
