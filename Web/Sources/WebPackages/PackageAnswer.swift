public import OfflinePackages

/// The answer to a request to a package. A plain value; the sender opens the file and queries the network.
public struct PackageAnswer: Sendable, Hashable {
    /// The HTTP status; if ``network`` is set, the status without the network.
    public var status: Int
    /// The file; `nil` for no body.
    public var file: PackageManifest.File?
    /// The header fields, in their order.
    public var fields: [PackageRequest.Field]
    /// The request to the package's network; `nil` for none.
    public var network: PackageNetworkRequest?

    /// Creates the answer to a request: a file, else the network's answer, if the package has a network. Documents
    /// always belong to the package. Requests with a body go only where the manifest accepts them.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - manifest: The package's manifest.
    ///   - policy: The profile's content security policy; `nil` for none. The package's own is added and cannot weaken
    ///     it.
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
        // If it became a document anyway, it would have the package's origin.
        if network != nil { fields.append(PackageRequest.Field(name: "Content-Security-Policy", value: "sandbox")) }
    }
}

/// A request to a package's network.
public struct PackageNetworkRequest: Sendable, Hashable {
    /// The fields that belong to the container or the network. The daemon sets the fields that identify the client.
    private static let own: Set<String> = [
        "accept-charset", "accept-encoding", "access-control-request-headers", "access-control-request-method",
        "connection", "content-length", "cookie", "cookie2", "date", "dnt", "expect", "host", "http2-settings",
        "keep-alive", "origin", "referer", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
        "via", PackageRequest.bodyMark.lowercased(),
    ]

    /// The URL.
    public var url: String
    /// The HTTP method.
    public var method: String
    /// The header fields to send.
    public var fields: [PackageRequest.Field]
    /// Whether the request's body is read and sent.
    public var hasBody: Bool

    /// `nil` if the package has no network, or the path is ambiguous.
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
