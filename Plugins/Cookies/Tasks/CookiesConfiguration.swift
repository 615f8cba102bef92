import HTTPRules
import TaskKit

/// The plugin's section of the configuration.
struct CookiesConfiguration: Codable, Sendable, Equatable {
    /// The seconds that session cookies are kept after the profile's last container was detached.
    var sessionLinger: Int?
    /// Whether connections to this machine's own addresses count as secure.
    var secureLocalhost: Bool?
    /// The file of a newer list of public suffixes.
    var publicSuffixFile: String?
    /// The maximum number of profiles of a uid.
    var uidProfiles: Int?
    /// The maximum number of bytes of a uid's cookies.
    var uidBytes: Int?

    enum CodingKeys: String, CodingKey {
        case sessionLinger = "session_linger"
        case secureLocalhost = "secure_localhost"
        case publicSuffixFile = "public_suffix_file"
        case uidProfiles = "uid_profiles"
        case uidBytes = "uid_bytes"
    }

    /// The descriptions of the settings for operators.
    static let settings: [String: JSON] = [
        "session_linger": [
            "description": """
            The number of seconds for which session cookies are kept after the last container of their profile has \
            ended.
            """,
            "default": 600, "minimum": 0, "maximum": .number(JSONNumber(CookieSettings.maximumLinger)),
        ],
        "secure_localhost": [
            "description": """
            Whether Secure cookies are accepted from and sent to this machine's own addresses over http.
            """,
            "default": true,
        ],
        "public_suffix_file": [
            "description": """
            The path of a list of public suffixes in the format of publicsuffix.org, if it is to be newer than the \
            system's. Empty: the system's list.
            """,
            "default": "",
        ],
        "uid_profiles": [
            "description": "The maximum number of profiles of one uid. One more fails with quota.exceeded.",
            "default": .number(JSONNumber(CookieSettings().uidProfiles)), "minimum": 1,
            "maximum": .number(JSONNumber(CookieSettings.maximumProfiles)),
        ],
        "uid_bytes": [
            "description": """
            The maximum number of bytes of names, values and paths of one uid's cookies. More fail with quota.exceeded.
            """,
            "default": .number(JSONNumber(CookieSettings().uidBytes)), "minimum": 1,
            "maximum": .number(JSONNumber(CookieSettings.maximumBytes)),
        ],
    ]

    /// Checks the values.
    ///
    /// - Throws: `JSONMismatch`.
    func check() throws {
        try Self.check(sessionLinger, 0...CookieSettings.maximumLinger, "$.session_linger")
        try Self.check(uidProfiles, 1...CookieSettings.maximumProfiles, "$.uid_profiles")
        try Self.check(uidBytes, 1...CookieSettings.maximumBytes, "$.uid_bytes")
    }

    private static func check(_ number: Int?, _ range: ClosedRange<Int>, _ path: String) throws {
        guard let number, !range.contains(number) else { return }
        throw JSONMismatch(
            path: path, expected: "an integer from \(range.lowerBound) to \(range.upperBound)", got: "number \(number)")
    }

    /// Returns the settings of the store with the values of this section.
    func apply(to settings: CookieSettings) -> CookieSettings {
        var settings = settings
        if let sessionLinger { settings.sessionLinger = .seconds(sessionLinger) }
        if let secureLocalhost { settings.secureLocalhost = secureLocalhost }
        if let publicSuffixFile, publicSuffixFile != "" { settings.publicSuffixFile = publicSuffixFile }
        if let uidProfiles { settings.uidProfiles = uidProfiles }
        if let uidBytes { settings.uidBytes = uidBytes }
        return settings
    }
}
