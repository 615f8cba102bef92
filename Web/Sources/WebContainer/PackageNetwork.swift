internal import BridgeJSON
internal import MainLoop
internal import WebKitViews
internal import WebPackages

/// Answers requests for files that a package lacks from its network. It calls the task `http.fetch` on the session of
/// the requesting document, so that the daemon's rules, interceptors, cache and cookies apply.
@MainActor
struct PackageNetwork {
    /// The maximum length of a request's body: the engine holds it in memory, and this holds a copy.
    private static let maximumBodyBytes = 16 << 20
    /// The maximum length of a body in a message; a longer body is sent as a stream.
    private static let inlineBodyBytes = 96 << 10
    /// The length of a piece of a stream that fits into a message.
    private static let pieceBytes = 24_000
    /// The fields that are omitted from the answer: they describe its transfer, or must not be set for a document of
    /// the package.
    private static let left: Set<String> = [
        "clear-site-data", "connection", "content-encoding", "content-length", "content-security-policy",
        "content-security-policy-report-only", "content-type", "keep-alive", "refresh", "set-cookie",
        "strict-transport-security", "trailer", "transfer-encoding", "upgrade", "x-content-type-options",
    ]

    let calls: DocumentCalls
    let request: SchemeRequest

    /// Answers the request, and returns when the answer's body has been transferred.
    ///
    /// - Parameters:
    ///   - question: The request to the network.
    ///   - fields: Fields of the answer, besides the network's.
    func answer(_ question: PackageNetworkRequest, fields: [PackageRequest.Field]) async {
        var options: JSONObject = [
            "url": .string(question.url), "method": .string(question.method), "respond": "headers", "as": "stream",
            "headers": .array(question.fields.map { .array([.string($0.name), .string($0.value)]) }),
        ]
        if question.hasBody {
            guard let body = request.body(atMost: Self.maximumBodyBytes) else {
                return request.answer(413, type: nil, fields: [], .none)
            }
            guard let sent = await send(body) else { return fail() }
            options["body"] = sent
        }
        guard let result = await calls.result(of: "http.fetch", .object(options)) else { return fail() }
        await deliver(result, fields.map { ($0.name, $0.value) })
    }

    private func fail() {
        request.fail(PackageServer.errorDomain, 0, "the network of the package has not answered")
    }

    // MARK: The request's body

    /// Returns the body as an option. A long body is a stream, whose writing starts now.
    private func send(_ body: [UInt8]) async -> JSON? {
        guard body.count > Self.inlineBodyBytes else { return ["base64": .string(Self.base64(body[...]))] }
        let count = JSON.number(JSONNumber(Int64(body.count)))
        guard let made = await calls.result(of: "bridge.stream.new", ["bytes": count]), let stream = made["stream"]
        else {
            return nil
        }
        Task { await write(body, to: stream) }
        return ["stream": stream, "bytes": count]
    }

    /// Writes the body to a stream. If a write fails, the stream has ended, and with it the fetch.
    private func write(_ body: [UInt8], to stream: JSON) async {
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceBytes)
            rest = rest.dropFirst(piece.count)
            let options: JSON = [
                "stream": stream, "base64": .string(Self.base64(piece)), "end": .bool(rest.isEmpty),
            ]
            guard await calls.result(of: "bridge.stream.write", options) != nil else { return }
        }
    }

    private static func base64(_ bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: The answer

    private func deliver(_ result: JSON, _ own: [(String, String)]) async {
        guard let status = result["status"]?.int64Value, (100...599).contains(status) else { return fail() }
        var fields = own
        var type: String?
        for pair in result["headers"]?.arrayValue ?? [] {
            guard let name = pair.arrayValue?.first?.stringValue, let value = pair.arrayValue?.last?.stringValue else {
                continue
            }
            if name.lowercased() == "content-type" { type = value }
            if !Self.left.contains(name.lowercased()) { fields.append((name, value)) }
        }
        guard let stream = result["body"]?["stream"] else {
            return request.answer(Int(status), type: type, fields: fields, .none)
        }
        guard let (channel, reader) = ByteChannel.make() else { return fail() }
        request.answer(Int(status), type: type, fields: fields, .descriptor(reader, byteCount: -1))
        await copy(stream, to: channel)
    }

    /// Copies the network's body. If it is not complete, the channel is released without its end.
    private func copy(_ stream: JSON, to channel: ByteChannel) async {
        while let piece = await calls.result(of: "bridge.stream.read", ["stream": stream]) {
            if piece["end"]?.boolValue == true { return channel.finish() }
            guard let text = piece["base64"]?.stringValue,
                let bytes = Array(text.utf8).withUnsafeBytes({ Base64Coding.decode($0) }), await channel.write(bytes)
            else {
                // The page has stopped reading.
                _ = await calls.result(of: "bridge.stream.close", ["stream": stream])
                return
            }
        }
    }
}
