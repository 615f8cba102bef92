import HTTPRules
import TaskKit

/// Requests and responses of hops as JSON: the options and the answers of `http.load`.
enum HopText {
    /// A longer body is no part of the text.
    static let maximumBodyBytes = 16 << 10
    /// Where a response comes from that an interceptor gives without saying so.
    static let interceptor = "interceptor"
    /// Where responses come from that Fetch itself has loaded.
    static let ownSources: Set<String> = ["network", "cache", "package", "replay"]

    // MARK: The request

    /// The options of `http.load` for a hop.
    static func options(_ hop: Hop, _ context: LoadContext, id: String, body: JSON?) -> JSON {
        var options: JSONObject = [
            "id": .string(id), "hop": .number(JSONNumber(context.chain.nextNumber())), "method": .string(hop.method),
            "url": .string(hop.url.text), "headers": HeaderText.json(hop.headers),
            "credentials": .string(context.request.cookies.credentials.rawValue),
            "cache": .string(context.request.cache.fetchName),
        ]
        if !context.reach.isOwnSite(hop.url) { options["to"] = .string(hop.url.origin.text) }
        options["body"] = body
        options["site"] = context.reach.pageOrigin.map { .string($0.text) }
        options["properties"] = context.chain.properties
        return .object(options)
    }

    /// A request's body: as it is where it is short and all there, else what is known of it.
    static func body(_ body: RequestBody?) -> JSON? {
        guard let body else { return nil }
        var json: JSONObject
        if let bytes = body.whole(upTo: maximumBodyBytes) {
            json = JSON.body(bytes)
        } else {
            json = ["held": true]
            json["bytes"] = body.byteCount.map { .number(JSONNumber($0)) }
        }
        json["type"] = body.type.map { .string($0) }
        return .object(json)
    }

    // MARK: The response

    /// The answer of `http.load`: a body that is known to be short is a part of it, another one a stream.
    ///
    /// - Parameters:
    ///   - call: Whose caller reads the stream.
    ///   - holding: What is kept until the body has ended.
    static func answer(
        _ response: HopResponse, _ url: WebURL, _ call: Call, holding: [any Sendable]
    ) async throws(BridgeError) -> JSONObject {
        let head = response.head
        var answer: JSONObject = [
            "status": .number(JSONNumber(head.status)), "reason": .string(head.reason), "url": .string(url.text),
            "headers": HeaderText.json(head.headers), "from": .string(response.from), "protocol": .string(head.version),
        ]
        let source = response.body
        var first: [UInt8] = []
        if let length = head.headers.first(named: "Content-Length").flatMap({ Int($0) }), length <= maximumBodyBytes {
            while first.count <= maximumBodyBytes {
                guard case .bytes(let bytes) = try await source.next() else {
                    if !first.isEmpty { answer["body"] = .object(JSON.body(first)) }
                    return answer
                }
                first += bytes
            }
        }
        answer["body"] = ["stream": .string(try await stream(first, source, call, holding).name)]
        return answer
    }

    private static func stream(
        _ first: [UInt8], _ source: any ResponseSource, _ call: Call, _ holding: [any Sendable]
    ) async throws(BridgeError) -> ByteStream {
        try await call.makeStream { out in
            defer {
                source.cancel()
                withExtendedLifetime(holding) {}
            }
            if !first.isEmpty { try await out.write(first) }
            while case .bytes(let bytes) = try await source.next() { try await out.write(bytes) }
        }
    }

    /// The response that an answer of `http.load` says.
    ///
    /// - Parameter isLoaded: Whether a response was loaded, whose fields stay as they are.
    /// - Throws: `reply.invalid`, where it says none.
    static func response(
        _ answer: JSON, _ context: LoadContext, isLoaded: Bool
    ) throws(BridgeError) -> HopResponse {
        do throws(JSONMismatch) {
            return try read(answer, context, isLoaded: isLoaded)
        } catch {
            throw BridgeError(
                .replyInvalid, "an interceptor of \(InterceptorStage.task) answered with no response: \(error)")
        }
    }

    private static func read(
        _ answer: JSON, _ context: LoadContext, isLoaded: Bool
    ) throws(JSONMismatch) -> HopResponse {
        guard let status = answer["status"]?.int64Value, (200...999).contains(status) else {
            throw JSONMismatch(
                path: "$.status", expected: "a status from 200 to 999", got: answer["status"]?.text ?? "nothing")
        }
        var head = ResponseHead(
            status: Int(status), reason: answer["reason"]?.stringValue ?? "",
            version: answer["protocol"]?.stringValue ?? "http/1.1", headers: HeaderList())
        for (index, pair) in try HeaderText.pairs(answer["headers"]).enumerated() {
            guard head.headers.append(name: pair.name, value: pair.value) else {
                throw JSONMismatch(path: "$.headers[\(index)]", expected: "a header field", got: "something else")
            }
        }
        var body: any ResponseSource = GivenBody([], context.request)
        if let json = answer["body"], !json.isNull {
            let given = try FetchBody(json)
            if !isLoaded, let type = given.type, !head.headers.contains(named: "Content-Type") {
                _ = head.headers.append(name: "Content-Type", value: type)
            }
            body =
                switch given {
                case .bytes(let bytes, _): GivenBody(bytes, context.request)
                case .stream(let name, _, _): GivenBody(context.call.readStream(name), context.request)
                }
        }
        let from = answer["from"]?.stringValue.flatMap { (1...64).contains($0.utf8.count) ? $0 : nil }
        return HopResponse(head: head, body: body, from: from ?? interceptor)
    }
}
