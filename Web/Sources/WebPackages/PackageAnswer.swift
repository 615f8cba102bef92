public import OfflinePackages

/// What is answered to a request for something of a package. A plain value; the file is opened, and the network asked,
/// by whoever sends it.
public struct PackageAnswer: Sendable, Hashable {
    /// The status of HTTP; of the network's answer where ``network`` says what it is asked.
    public var status: Int
    /// The file; nil: there is no body.
    public var file: PackageManifest.File?
    /// The fields, in their order.
    public var fields: [PackageRequest.Field]
    /// What the package's network is asked; nil: nothing.
    public var network: PackageNetworkRequest?

    /// The answer to a request: a file, else what the network says, where the package has one. Documents are the
    /// package's own. Requests with a body go where the manifest accepts them.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - manifest: The package's.
    ///   - policy: The profile's content security policy. The package's own stands beside it, and cannot weaken it.
    public init(_ request: PackageRequest, _ manifest: PackageManifest, policy: String?) {
        let head = manifest.head
        fields = [PackageRequest.Field(name: "X-Content-Type-Options", value: "nosniff")]
        for policy in [policy, head.csp].compactMap({ $0 }) {
            fields.append(PackageRequest.Field(name: "Content-Security-Policy", value: policy))
        }
        if request.isReading, let file = request.path.flatMap({ manifest.file(at: $0) }) {
            self.file = file
            status = 200
        } else if request.isReading {
            status = 404
            if !request.isForDocument { network = PackageNetworkRequest(request, head) }
        } else if !head.accepts(request) {
            status = 405
            fields = [PackageRequest.Field(name: "Allow", value: "GET, HEAD")]
        } else {
            status = request.isMarked ? 404 : 415
            if request.isMarked { network = PackageNetworkRequest(request, head) }
        }
        // Where it came to be a document all the same, it would be one of the package's origin.
        if network != nil { fields.append(PackageRequest.Field(name: "Content-Security-Policy", value: "sandbox")) }
    }
}

/// What a package's network is asked.
public struct PackageNetworkRequest: Sendable, Hashable {
    /// Fields that are the container's or the network's own. The daemon sets those that say who asks.
    private static let own: Set<String> = [
        "accept-charset", "accept-encoding", "access-control-request-headers", "access-control-request-method",
        "connection", "content-length", "cookie", "cookie2", "date", "dnt", "expect", "host", "http2-settings",
        "keep-alive", "origin", "referer", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
        "via", PackageRequest.bodyMark.lowercased(),
    ]

    /// The URL.
    public var url: String
    /// The method of HTTP.
    public var method: String
    /// The fields that are sent.
    public var fields: [PackageRequest.Field]
    /// Whether the request's body is read and sent.
    public var hasBody: Bool

    /// nil where the package has no network, or the path could be read in two ways.
    init?(_ request: PackageRequest, _ head: PackageHead) {
        guard let network = head.network, let target = request.target else { return nil }
        url = network + target.text
        method = request.method
        hasBody = !request.isReading
        fields = request.fields.filter { field in
            let name = field.name.lowercased()
            return !Self.own.contains(name) && !name.hasPrefix("sec-") && !name.hasPrefix("proxy-")
        }
    }
}

extension PackageHead {
    /// Whether the package's scripts may send this request, which has a body.
    func accepts(_ request: PackageRequest) -> Bool {
        guard network != nil, let path = request.target?.path else { return false }
        return accepts.contains { $0.method == request.method && path.hasPrefix($0.path) }
    }
}
