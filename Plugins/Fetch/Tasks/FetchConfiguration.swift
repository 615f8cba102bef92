import HTTPRules
import OfflinePackages
import TaskKit

/// The plugin's section of the configuration.
struct FetchConfiguration: Codable, Sendable {
    /// `private_networks`: networks that requests may reach although they are not public.
    var privateNetworks: [String]?
    /// `ca_file`: certificates that are trusted instead of the system's.
    var caFile: String?
    /// `user_agent`, `user_agent_append`: the field `User-Agent` of requests that have none.
    var userAgent: String?
    var userAgentAppend: String?
    /// `inline_bytes`: the maximum length of a body in a result.
    var inlineBytes: Int?
    /// `body_bytes`: the maximum length of a body if the caller does not specify one.
    var bodyBytes: Int64?
    /// `transfers`, `queue`: the maximum numbers of a user's running and waiting fetches.
    var transfers: Int?
    var queue: Int?
    /// `connect_ms`, `idle_ms`: timeouts if the caller does not specify them.
    var connectMs: Int?
    var idleMs: Int?
    /// `downgrade`: whether redirects may lead from https to http.
    var downgrade: Bool?
    /// `cache_bytes`, `cache_user_bytes`, `cache_origin_bytes`, `cache_memory_bytes`: the size limits of the response
    /// store.
    var cacheBytes: Int64?
    var cacheUserBytes: Int64?
    var cacheOriginBytes: Int64?
    var cacheMemoryBytes: Int64?
    /// `package_keys`, `package_bytes`: the public keys whose offline packages are installed, and the size limit of the
    /// packages.
    var packageKeys: [String]?
    var packageBytes: Int64?
    /// `parameters`: parameters that are added to requests for some origins.
    var parameters: [ParameterSection]?
    /// `pins`: the keys that certificates of hosts may have.
    var pins: [PinSection]?
    /// `download_dirs`: folders whose files may be bodies.
    var downloadDirs: [String]?
    /// `proxy`: the proxy for all requests.
    var proxy: String?

    enum CodingKeys: String, CodingKey {
        case privateNetworks = "private_networks"
        case caFile = "ca_file"
        case userAgent = "user_agent"
        case userAgentAppend = "user_agent_append"
        case inlineBytes = "inline_bytes"
        case bodyBytes = "body_bytes"
        case transfers
        case queue
        case connectMs = "connect_ms"
        case idleMs = "idle_ms"
        case downgrade
        case cacheBytes = "cache_bytes"
        case cacheUserBytes = "cache_user_bytes"
        case cacheOriginBytes = "cache_origin_bytes"
        case cacheMemoryBytes = "cache_memory_bytes"
        case packageKeys = "package_keys"
        case packageBytes = "package_bytes"
        case parameters
        case pins
        case downloadDirs = "download_dirs"
        case proxy
    }

    /// The descriptions of the settings for operators.
    static let settings: [String: JSON] = [
        "private_networks": [
            "description": """
            Networks that are not public to which requests are allowed, such as 10.1.0.0/16. By default no request is \
            sent to private addresses or to this machine's own.
            """,
            "default": [],
        ],
        "ca_file": [
            "description": """
            A file of certificates in PEM that are trusted instead of the system's. Empty: the system's.
            """,
            "default": "",
        ],
        "user_agent": [
            "description": "The User-Agent header of requests that have none.",
            "default": .string(FetchSettings.standardUserAgent),
        ],
        "user_agent_append": ["description": "A text that is appended to user_agent, after a space.", "default": ""],
        "inline_bytes": [
            "description": "The maximum number of bytes of a body in a result. Longer bodies are streams.",
            "default": .number(JSONNumber(FetchSettings().inlineBytes)), "minimum": 0,
            "maximum": .number(JSONNumber(FetchSettings.inlineRange.upperBound)),
        ],
        "body_bytes": [
            "description": "The maximum number of bytes of a response's body if the caller does not specify maxBytes.",
            "default": .number(JSONNumber(FetchSettings().bodyBytes)), "minimum": 0,
            "maximum": .number(JSONNumber(FetchSettings.bodyRange.upperBound)),
        ],
        "transfers": [
            "description": "The maximum number of concurrent fetches of a user. Others wait.",
            "default": .number(JSONNumber(FetchSettings().transfers)), "minimum": 1,
            "maximum": .number(JSONNumber(FetchSettings.transferRange.upperBound)),
        ],
        "queue": [
            "description": "The maximum number of waiting fetches of a user. One more fails with busy.",
            "default": .number(JSONNumber(FetchSettings().queue)), "minimum": 0,
            "maximum": .number(JSONNumber(FetchSettings.queueRange.upperBound)),
        ],
        "connect_ms": [
            "description": "The time limit for establishing a connection if the caller does not specify connectMs.",
            "default": 30_000, "minimum": 1, "maximum": .number(JSONNumber(FetchSettings.timeRange.upperBound)),
        ],
        "idle_ms": [
            "description": "The time limit without a byte in either direction if the caller does not specify idleMs.",
            "default": 60_000, "minimum": 1, "maximum": .number(JSONNumber(FetchSettings.timeRange.upperBound)),
        ],
        "downgrade": [
            "description": "Whether a redirect may lead from https to http.", "default": false,
        ],
        "cache_bytes": [
            "description": """
            The maximum number of bytes of cached responses on disk, of all users together. 0: no cache.
            """,
            "default": .number(JSONNumber(CacheSettings().bytes)), "minimum": 0,
            "maximum": .number(JSONNumber(CacheSettings.range.upperBound)),
        ],
        "cache_user_bytes": [
            "description": """
            The maximum number of bytes of cached responses of each user. A body of more than an eighth of it is not \
            stored.
            """,
            "default": .number(JSONNumber(CacheSettings().userBytes)), "minimum": 0,
            "maximum": .number(JSONNumber(CacheSettings.range.upperBound)),
        ],
        "cache_origin_bytes": [
            "description": "The maximum number of bytes of cached responses of each origin, for each user and site.",
            "default": .number(JSONNumber(CacheSettings().originBytes)), "minimum": 0,
            "maximum": .number(JSONNumber(CacheSettings.range.upperBound)),
        ],
        "cache_memory_bytes": [
            "description": "The maximum number of bytes of short cached responses that are also kept in memory.",
            "default": .number(JSONNumber(CacheSettings().memoryBytes)), "minimum": 0,
            "maximum": .number(JSONNumber(CacheSettings.range.upperBound)),
        ],
        "package_keys": [
            "description": """
            The public keys of the offline packages that are installed and used, in the form that trestle package key \
            writes.
            """,
            "default": [],
        ],
        "package_bytes": [
            "description": "The maximum number of bytes of a user's offline packages, including the previous versions.",
            "default": .number(JSONNumber(FetchSettings().packageBytes)), "minimum": 0,
            "maximum": .number(JSONNumber(FetchSettings.packageRange.upperBound)),
        ],
        "download_dirs": [
            "description": """
            Directories whose files http.fetch reads and writes for the user as which the daemon runs, unless this is \
            root. By default no files are read or written.
            """,
            "default": [],
        ],
        "parameters": ParameterSection.setting,
        "pins": PinSection.setting,
        "proxy": ProxySetting.setting,
    ]
}

/// The settings of fetches. The defaults are those of an empty configuration.
struct FetchSettings: Sendable {
    static let standardUserAgent = "Trestle"
    /// The plugin's version.
    static let version = "1.0.0"
    /// A body of the maximum length, in base 64, fits into a message of the default length.
    static let inlineRange = 0...(700 << 10)
    static let bodyRange: ClosedRange<Int64> = 0...(4 << 30)
    static let transferRange = 1...256
    static let queueRange = 0...65_536
    /// The range of `package_bytes`. A file of a package may be as long as the whole store.
    static let packageRange: ClosedRange<Int64> = 0...(4 << 30)
    /// The maximum number of keys. No use for more is known.
    static let maximumPackageKeys = 64
    /// The maximum number of folders. No use for more is known.
    static let maximumDownloadFolders = 64
    /// The range of timeouts in milliseconds, up to a day.
    static let timeRange = 1...86_400_000

    var gate = AddressGate()
    var tls = TLSSettings()
    var userAgent = standardUserAgent
    var inlineBytes = 256 << 10
    var bodyBytes: Int64 = 64 << 20
    var transfers = 64
    var queue = 1024
    var connectTimeout = Duration.seconds(30)
    var idleTimeout = Duration.seconds(60)
    var allowsDowngrade = false
    var cache = CacheSettings()
    var packageKeys: [PackageKey] = []
    var packageBytes: Int64 = 512 << 20
    var parameters = PublicParameters()
    var proxy: String?
    var downloadFolders: [String] = []

    init() {}

    /// Reads the settings from a configuration.
    ///
    /// - Throws: If the configuration is invalid.
    init(_ section: FetchConfiguration) throws(JSONMismatch) {
        for (index, text) in (section.privateNetworks ?? []).enumerated() {
            guard let network = IPNetwork(text) else {
                throw JSONMismatch(
                    path: "$.private_networks[\(index)]", expected: "a network, such as 10.1.0.0/16",
                    got: JSON.string(text).text)
            }
            gate.openNetworks.append(network)
        }
        tls.authorityFile = section.caFile.flatMap { $0.isEmpty ? nil : $0 }
        userAgent = try Self.userAgent(section)
        inlineBytes = try Self.checked(section.inlineBytes, in: Self.inlineRange, "inline_bytes") ?? inlineBytes
        bodyBytes = try Self.checked(section.bodyBytes, in: Self.bodyRange, "body_bytes") ?? bodyBytes
        transfers = try Self.checked(section.transfers, in: Self.transferRange, "transfers") ?? transfers
        queue = try Self.checked(section.queue, in: Self.queueRange, "queue") ?? queue
        if let time = try Self.checked(section.connectMs, in: Self.timeRange, "connect_ms") {
            connectTimeout = .milliseconds(time)
        }
        if let time = try Self.checked(section.idleMs, in: Self.timeRange, "idle_ms") {
            idleTimeout = .milliseconds(time)
        }
        allowsDowngrade = section.downgrade ?? false
        cache.bytes = try Self.cacheSize(section.cacheBytes, "cache_bytes") ?? cache.bytes
        cache.userBytes = try Self.cacheSize(section.cacheUserBytes, "cache_user_bytes") ?? cache.userBytes
        cache.originBytes = try Self.cacheSize(section.cacheOriginBytes, "cache_origin_bytes") ?? cache.originBytes
        cache.memoryBytes = try Self.cacheSize(section.cacheMemoryBytes, "cache_memory_bytes") ?? cache.memoryBytes
        packageKeys = try Self.packageKeys(section.packageKeys ?? [])
        packageBytes = try Self.checked(section.packageBytes, in: Self.packageRange, "package_bytes") ?? packageBytes
        downloadFolders = try Self.downloadFolders(section.downloadDirs ?? [])
        for (index, table) in (section.pins ?? []).enumerated() {
            tls.pins.append(try table.pin(at: "$.pins[\(index)]"))
        }
        if let text = section.proxy, !text.isEmpty { proxy = try ProxySetting.check(text) }
        for (index, table) in (section.parameters ?? []).enumerated() {
            parameters.rules.append(try table.rule(at: "$.parameters[\(index)]", PublicSuffixList()))
        }
    }

    private static func cacheSize(_ bytes: Int64?, _ key: String) throws(JSONMismatch) -> Int64? {
        try checked(bytes, in: CacheSettings.range, key)
    }

    private static func packageKeys(_ texts: [String]) throws(JSONMismatch) -> [PackageKey] {
        var keys: [PackageKey] = []
        for (index, text) in texts.enumerated() {
            guard let key = PackageKey(text), index < maximumPackageKeys else {
                throw JSONMismatch(
                    path: "$.package_keys[\(index)]",
                    expected: "at most \(maximumPackageKeys) public keys, ed25519:…",
                    got: "something else")
            }
            keys.append(key)
        }
        return keys
    }

    private static func downloadFolders(_ paths: [String]) throws(JSONMismatch) -> [String] {
        for (index, path) in paths.enumerated() where !FileAccess.isFolder(path) || index >= maximumDownloadFolders {
            throw JSONMismatch(
                path: "$.download_dirs[\(index)]",
                expected: "at most \(maximumDownloadFolders) absolute paths of folders, without / at the end",
                got: "something else")
        }
        return paths
    }

    private static func userAgent(_ section: FetchConfiguration) throws(JSONMismatch) -> String {
        let parts = [section.userAgent ?? standardUserAgent, section.userAgentAppend ?? ""]
        let text = parts.filter { !$0.isEmpty }.joined(separator: " ")
        guard HeaderField.isValue(text) else {
            let isFirst = section.userAgent.map { !HeaderField.isValue($0) } ?? false
            throw JSONMismatch(
                path: isFirst ? "$.user_agent" : "$.user_agent_append", expected: "the value of a header field",
                got: "a text with characters that such a value cannot have")
        }
        return text
    }

    /// Returns the number.
    ///
    /// - Throws: If the number is out of its range.
    static func checked<T: BinaryInteger>(
        _ number: T?, in range: ClosedRange<T>, _ key: String
    ) throws(JSONMismatch) -> T? {
        guard let number, !range.contains(number) else { return number }
        throw JSONMismatch(
            path: "$.\(key)", expected: "an integer from \(range.lowerBound) to \(range.upperBound)",
            got: "number \(number)")
    }
}
