internal import Sodium

/// An algorithm of Digest: RFC 7616, section 3.3.
public struct DigestAlgorithm: Hashable, Sendable {
    enum Hash: Hashable, Sendable {
        case md5
        case sha256
    }

    let hash: Hash
    /// Whether the hash of name and password includes both nonces: `-sess`.
    let isOfSession: Bool
    /// The name in the server's form.
    let name: String

    /// Creates the algorithm of a name; `nil` if it is unknown.
    init?(_ name: String) {
        switch FieldText.lowercase(name) {
        case "md5": (hash, isOfSession) = (.md5, false)
        case "md5-sess": (hash, isOfSession) = (.md5, true)
        case "sha-256": (hash, isOfSession) = (.sha256, false)
        case "sha-256-sess": (hash, isOfSession) = (.sha256, true)
        default: return nil
        }
        self.name = name
    }

    /// Returns the hash of bytes in hexadecimal digits.
    func digits(_ bytes: [UInt8]) -> String {
        let hash =
            switch hash {
            case .md5: MD5.hash(bytes)
            case .sha256: Self.sha256(bytes)
            }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finishBytes()
    }
}

/// The answer to a Digest challenge: RFC 7616, section 3.4. Supports only the protection of the request line, `auth`.
struct DigestAnswer {
    private let challenge: AuthenticationChallenge
    private let algorithm: DigestAlgorithm

    init(_ challenge: AuthenticationChallenge, _ algorithm: DigestAlgorithm) {
        (self.challenge, self.algorithm) = (challenge, algorithm)
    }

    /// Returns whether one of the protections is supported. `nil` is supported: it is the form of RFC 2069.
    static func canAnswer(_ protections: String?) -> Bool {
        protections.map { FieldScanner.members(of: $0).contains { FieldText.isSame($0, "auth") } } ?? true
    }

    func value(_ credentials: AuthenticationChallenge.Credentials, method: String, url: WebURL, nonce: String) -> String
    {
        let parameters = challenge.parameters
        let target = url.path + (url.query.map { "?\($0)" } ?? "")
        let isUTF8 = FieldText.isSame(parameters["charset"] ?? "", "utf-8")
        let serverNonce = parameters["nonce"] ?? ""
        let count = "00000001"
        var own = algorithm.digits(secret(credentials, isUTF8: isUTF8))
        if algorithm.isOfSession { own = digits("\(own):\(serverNonce):\(nonce)") }
        let request = digits("\(method):\(target)")
        var fields = [
            "username=\(quoted(credentials.user, isUTF8: isUTF8))", "realm=\(quoted(challenge.realm))",
            "nonce=\(quoted(serverNonce))", "uri=\(quoted(target))",
        ]
        if parameters["qop"] == nil {
            fields.append("response=\(quoted(digits("\(own):\(serverNonce):\(request)")))")
        } else {
            let response = digits("\(own):\(serverNonce):\(count):\(nonce):auth:\(request)")
            fields += ["response=\(quoted(response))", "qop=auth", "nc=\(count)", "cnonce=\(quoted(nonce))"]
        }
        if parameters["algorithm"] != nil { fields.append("algorithm=\(algorithm.name)") }
        if let opaque = parameters["opaque"] { fields.append("opaque=\(quoted(opaque))") }
        return "Digest " + fields.joined(separator: ", ")
    }

    /// Returns the bytes of name, realm and password, joined by colons.
    private func secret(_ credentials: AuthenticationChallenge.Credentials, isUTF8: Bool) -> [UInt8] {
        let colon = [UInt8(ascii: ":")]
        let realm = FieldText.bytes(challenge.realm)
        return bytes(credentials.user, isUTF8) + colon + realm + colon + bytes(credentials.password, isUTF8)
    }

    private func bytes(_ text: String, _ isUTF8: Bool) -> [UInt8] {
        isUTF8 ? Array(text.utf8) : FieldText.encode(text) ?? Array(text.utf8)
    }

    private func digits(_ text: String) -> String { algorithm.digits(FieldText.bytes(text)) }

    private func quoted(_ text: String, isUTF8: Bool = false) -> String {
        let text = isUTF8 ? FieldText.decode(Array(text.utf8)) : text
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
