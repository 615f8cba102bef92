/// A challenge of `WWW-Authenticate`, by which a server requires credentials for a request: RFC 9110, section 11.
public struct AuthenticationChallenge: Hashable, Sendable {
    /// The supported authentication schemes.
    public enum Scheme: Hashable, Sendable {
        /// Name and password in plain form: RFC 7617.
        case basic
        /// A hash of both: RFC 7616.
        case digest(DigestAlgorithm)
    }

    /// The scheme.
    public let scheme: Scheme
    /// The name of the protected area, for people; empty if the server specifies none.
    public let realm: String
    /// The parameters, by their names in lower case.
    let parameters: [String: String]

    /// Whether the last answer was correct except for its age: the parameter `stale` of Digest.
    public var isStale: Bool { FieldText.isSame(parameters["stale"] ?? "", "true") }

    /// The maximum number of challenges that are read from a response.
    public static let maximumChallenges = 16

    /// Returns the strongest challenge of a response that can be answered; `nil` if there is none.
    ///
    /// - Parameter headers: The response's fields.
    public static func strongest(_ headers: HeaderList) -> AuthenticationChallenge? {
        read(headers.members(named: "WWW-Authenticate")).compactMap {
            AuthenticationChallenge($0.scheme, $0.parameters)
        }
        .max { $0.strength < $1.strength }
    }

    private init?(_ name: String, _ parameters: [String: String]) {
        switch name {
        case "basic": scheme = .basic
        case "digest":
            guard let algorithm = DigestAlgorithm(parameters["algorithm"] ?? "MD5"), parameters["nonce"] != nil,
                DigestAnswer.canAnswer(parameters["qop"])
            else { return nil }
            scheme = .digest(algorithm)
        default: return nil
        }
        realm = parameters["realm"] ?? ""
        self.parameters = parameters
    }

    private var strength: Int {
        switch scheme {
        case .basic: 0
        case .digest(let algorithm): algorithm.hash == .md5 ? 1 : 2
        }
    }

    /// Reads the challenges from the members of the field. A challenge begins with its scheme; a member after a comma
    /// is a further parameter or the next challenge.
    private static func read(_ members: [String]) -> [(scheme: String, parameters: [String: String])] {
        var challenges: [(scheme: String, parameters: [String: String])] = []
        for member in members {
            var scanner = FieldScanner(member)
            guard var name = scanner.token() else { continue }
            scanner.skipWhitespace()
            if scanner.next != UInt8(ascii: "=") {
                guard challenges.count < maximumChallenges else { break }
                challenges.append((FieldText.lowercase(name), [:]))
                guard let next = scanner.token() else { continue }
                name = next
                scanner.skipWhitespace()
            }
            guard !challenges.isEmpty, scanner.skip("=") else { continue }
            scanner.skipWhitespace()
            guard let value = scanner.tokenOrQuotedString(), scanner.isAtEnd else { continue }
            challenges[challenges.count - 1].parameters[FieldText.lowercase(name)] = value
        }
        return challenges
    }

    /// Returns the value of `Authorization` that answers the challenge.
    ///
    /// - Parameters:
    ///   - credentials: The name and the password.
    ///   - method: The request's method.
    ///   - url: The request's URL.
    ///   - nonce: A random text that the caller provides, for Digest.
    /// - Returns: The value; `nil` if the scheme cannot transmit the name or the password.
    public func answer(_ credentials: Credentials, method: String, url: WebURL, nonce: String) -> String? {
        guard credentials.areSendable else { return nil }
        switch scheme {
        case .basic:
            // By bytes: a combining character after the colon must not hide it.
            guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else { return nil }
            return "Basic " + Base64.text(Array("\(credentials.user):\(credentials.password)".utf8))
        case .digest(let algorithm):
            return DigestAnswer(self, algorithm).value(credentials, method: method, url: url, nonce: nonce)
        }
    }

    /// A name and a password.
    public struct Credentials: Sendable {
        /// The name.
        public let user: String
        /// The password.
        public let password: String

        /// Creates credentials.
        ///
        /// - Parameters:
        ///   - user: The name.
        ///   - password: The password.
        public init(user: String, password: String) { (self.user, self.password) = (user, password) }

        /// Whether name and password have no control characters: RFC 7617, section 2.
        var areSendable: Bool {
            (user + password).unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        }
    }
}
