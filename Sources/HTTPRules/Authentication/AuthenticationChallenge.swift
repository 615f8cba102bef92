/// What a server wants a request to prove, of `WWW-Authenticate`: RFC 9110, section 11.
public struct AuthenticationChallenge: Hashable, Sendable {
    /// The ways of proving that are known here.
    public enum Scheme: Hashable, Sendable {
        /// Name and password as they are: RFC 7617.
        case basic
        /// A hash of both: RFC 7616.
        case digest(DigestAlgorithm)
    }

    /// The scheme.
    public let scheme: Scheme
    /// What is protected, for people; empty where the server does not say.
    public let realm: String
    /// The parameters, by their names in small letters.
    let parameters: [String: String]

    /// Whether the last answer was right but for its age: Digest, `stale`.
    public var isStale: Bool { FieldText.isSame(parameters["stale"] ?? "", "true") }

    /// How many challenges of a response are read.
    public static let maximumChallenges = 16

    /// The strongest challenge of a response that can be answered; nil where there is none.
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

    /// The challenges of the members of the field: one begins with its scheme, what follows with a comma are more
    /// parameters, or the next one.
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

    /// The value of `Authorization` that answers it.
    ///
    /// - Parameters:
    ///   - credentials: Name and password.
    ///   - method: The request's method.
    ///   - url: The request's URL.
    ///   - nonce: A random text of the caller's, for Digest.
    /// - Returns: The value; nil where name or password cannot be sent so.
    public func answer(_ credentials: Credentials, method: String, url: WebURL, nonce: String) -> String? {
        guard credentials.areSendable else { return nil }
        switch scheme {
        case .basic:
            guard !credentials.user.contains(":") else { return nil }
            return "Basic " + Base64.text(Array("\(credentials.user):\(credentials.password)".utf8))
        case .digest(let algorithm):
            return DigestAnswer(self, algorithm).value(credentials, method: method, url: url, nonce: nonce)
        }
    }

    /// Name and password.
    public struct Credentials: Sendable {
        /// The name.
        public let user: String
        /// The password.
        public let password: String

        /// Credentials.
        ///
        /// - Parameters:
        ///   - user: The name.
        ///   - password: The password.
        public init(user: String, password: String) { (self.user, self.password) = (user, password) }

        /// RFC 7617, section 2: no control characters.
        var areSendable: Bool {
            (user + password).unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        }
    }
}
