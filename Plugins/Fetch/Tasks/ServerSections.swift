import HTTPRules
import TaskKit

/// One table of the setting `pins`: the keys that a host's certificate may have.
struct PinSection: Codable, Sendable {
    /// The host, or a pattern for all hosts below a domain: `*.example.org`.
    var host: String
    /// The SHA-256 hashes of at least two public keys, in base 64, so that one key can be replaced.
    var sha256: [String]

    /// The description of the setting for operators.
    static let setting: JSON = [
        "description": """
        The keys that the certificates of a host may have: tables with host and sha256, an array of at least two \
        hashes of public keys in base 64. Other keys are refused, even if a trusted authority has issued the \
        certificate.
        """,
        "default": [],
    ]
    /// With only one key, the host could not change its key.
    private static let minimumKeys = 2

    /// Returns the pin of this table.
    ///
    /// - Parameter path: The path of the table in the configuration.
    /// - Throws: If the table is invalid.
    func pin(at path: String) throws(JSONMismatch) -> TLSSettings.Pin {
        let isBelow = host.hasPrefix("*.")
        guard let name = try? Host(isBelow ? String(host.dropFirst(2)) : host), !isBelow || name.isName else {
            throw JSONMismatch(
                path: "\(path).host", expected: "a host, or *. and a domain", got: JSON.string(host).text)
        }
        guard sha256.count >= Self.minimumKeys else {
            throw JSONMismatch(
                path: "\(path).sha256", expected: "at least \(Self.minimumKeys) hashes", got: "\(sha256.count)")
        }
        for (index, text) in sha256.enumerated() {
            let bytes = Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) }
            guard bytes?.count == 32 else {
                throw JSONMismatch(
                    path: "\(path).sha256[\(index)]", expected: "a SHA-256 hash in base 64", got: JSON.string(text).text
                )
            }
        }
        return TLSSettings.Pin(host: name, isBelow: isBelow, keys: sha256)
    }
}

/// The setting `proxy`.
enum ProxySetting {
    /// The description of the setting for operators.
    static let setting: JSON = [
        "description": """
        A proxy for all requests, such as http://proxy.example:3128 or socks5h://proxy.example:1080. The proxy \
        resolves names, so that only addresses in URLs are checked. Empty: no proxy.
        """,
        "default": "",
    ]

    private static let schemes = ["http", "https", "socks5h"]

    /// Returns the proxy without its path.
    ///
    /// - Throws: If the text is not a proxy.
    static func check(_ text: String) throws(JSONMismatch) -> String {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let authority = parts.count == 3 ? parts[2].prefix { $0 != "/" } : ""
        guard parts.count == 3, parts[1].isEmpty, schemes.contains(where: { parts[0] == "\($0):" }),
            // Its host and port have the syntax of a URL's.
            let url = try? WebURL("http://\(authority)/"), url.origin.host.text.utf8.count > 0, !authority.contains("@")
        else {
            throw JSONMismatch(
                path: "$.proxy", expected: "a proxy, such as http://proxy.example:3128, without user and password",
                got: "something else")
        }
        return "\(parts[0])//\(authority)"
    }
}
