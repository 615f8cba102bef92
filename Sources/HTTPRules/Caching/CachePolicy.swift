/// How a request uses the store: the six policies of `NSURLRequest`, and Fetch's `no-store`.
public enum CachePolicy: Hashable, Sendable, CaseIterable {
    /// As RFC 9111 says. No. 0, `default`.
    case useProtocol
    /// From the network, without asking whether what is stored is right. No. 1, `reload-local`.
    case reloadIgnoringLocal
    /// What is stored, of any age, else from the network. No. 2, `force-cache`.
    case returnElseLoad
    /// What is stored, of any age, and nothing else. No. 3, `only-if-cached`.
    case returnDontLoad
    /// From the server itself, past the caches on the way too. No. 4, `reload`.
    case reloadIgnoringLocalAndRemote
    /// What is stored once the server has confirmed it. No. 5, `no-cache`.
    case reloadRevalidating
    /// From the server itself, and not stored. Fetch's `no-store`.
    case noStore

    /// The policy of a name, as Fetch or `NSURLRequest` write it; nil where there is none.
    ///
    /// - Parameter name: Such as `force-cache` or `returnCacheDataElseLoad`; the latter may begin with `NSURLRequest`
    ///   and a capital letter.
    public init?(name: String) {
        guard let found = Self.names[name] else { return nil }
        self = found
    }

    private static let names: [String: CachePolicy] = {
        var names: [String: CachePolicy] = [:]
        for policy in allCases {
            names[policy.fetchName] = policy
            for name in policy.requestNames {
                names[name] = policy
                names["NSURLRequest\(name.prefix(1).uppercased())\(name.dropFirst())"] = policy
            }
        }
        return names
    }()

    /// The policy of a number of `NSURLRequest.CachePolicy`; nil where there is none.
    ///
    /// - Parameter number: 0 to 5.
    public init?(number: Int) {
        guard let found = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = found
    }

    /// Its name in Fetch; `reload-local` is of the same kind, and not one of Fetch's.
    public var fetchName: String {
        switch self {
        case .useProtocol: "default"
        case .reloadIgnoringLocal: "reload-local"
        case .returnElseLoad: "force-cache"
        case .returnDontLoad: "only-if-cached"
        case .reloadIgnoringLocalAndRemote: "reload"
        case .reloadRevalidating: "no-cache"
        case .noStore: "no-store"
        }
    }

    /// Its number in `NSURLRequest`; nil for Fetch's own.
    public var number: Int? {
        switch self {
        case .useProtocol: 0
        case .reloadIgnoringLocal: 1
        case .returnElseLoad: 2
        case .returnDontLoad: 3
        case .reloadIgnoringLocalAndRemote: 4
        case .reloadRevalidating: 5
        case .noStore: nil
        }
    }

    private var requestNames: [String] {
        switch self {
        case .useProtocol: ["useProtocolCachePolicy"]
        case .reloadIgnoringLocal: ["reloadIgnoringLocalCacheData", "reloadIgnoringCacheData"]
        case .returnElseLoad: ["returnCacheDataElseLoad"]
        case .returnDontLoad: ["returnCacheDataDontLoad"]
        case .reloadIgnoringLocalAndRemote: ["reloadIgnoringLocalAndRemoteCacheData"]
        case .reloadRevalidating: ["reloadRevalidatingCacheData"]
        case .noStore: []
        }
    }

    /// What it adds to a request that goes out, where the request says nothing of its own.
    var addedFields: [HeaderField] {
        switch self {
        case .reloadIgnoringLocalAndRemote, .noStore:
            [
                HeaderField(trusted: FieldName.cacheControl, "no-cache"),
                HeaderField(trusted: FieldName.pragma, "no-cache"),
            ]
        case .reloadRevalidating: [HeaderField(trusted: FieldName.cacheControl, "max-age=0")]
        default: []
        }
    }
}
