/// The use of the store by a request: the six policies of `NSURLRequest`, and Fetch's `no-store`.
public enum CachePolicy: Hashable, Sendable, CaseIterable {
    /// The rules of RFC 9111. No. 0, `default`.
    case useProtocol
    /// From the network, without validation of stored responses. No. 1, `reload-local`.
    case reloadIgnoringLocal
    /// The stored response of any age, otherwise from the network. No. 2, `force-cache`.
    case returnElseLoad
    /// The stored response of any age, and nothing else. No. 3, `only-if-cached`.
    case returnDontLoad
    /// From the server itself, bypassing caches on the way. No. 4, `reload`.
    case reloadIgnoringLocalAndRemote
    /// The stored response after the server has confirmed it. No. 5, `no-cache`.
    case reloadRevalidating
    /// From the server itself, and not stored. Fetch's `no-store`.
    case noStore

    /// Returns the policy of a name in Fetch or `NSURLRequest`; `nil` if there is none.
    ///
    /// - Parameter name: The name, such as `force-cache` or `returnCacheDataElseLoad`; the latter may begin with
    ///   `NSURLRequest` and a capital letter.
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

    /// Returns the policy of a number of `NSURLRequest.CachePolicy`; `nil` if there is none.
    ///
    /// - Parameter number: The number, 0 to 5.
    public init?(number: Int) {
        guard let found = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = found
    }

    /// The policy's name in Fetch. `reload-local` has the same form but is not defined by Fetch.
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

    /// The policy's number in `NSURLRequest`; `nil` for `noStore`, which only Fetch has.
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

    /// The fields that the policy adds to a request if the request does not have them.
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
