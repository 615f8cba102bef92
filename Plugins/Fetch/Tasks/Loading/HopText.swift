import HTTPRules
import TaskKit

/// Requests and responses of hops as JSON: the options and the answers of `http.load`.
enum HopText {
    /// The maximum length of a body that is part of the JSON.
    static let maximumBodyBytes = 16 << 10
    /// The source of a response that an interceptor returns without naming a source.
    static let interceptor = "interceptor"
    /// The sources of responses that Fetch itself has loaded.
    static let ownSources: Set<String> = ["network", "cache", "package", "replay"]

    // MARK: The request

    /// Returns the options of `http.load` for a hop.
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

    /// Returns a request's body: all of it if it is short and complete, otherwise its known properties.
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

    /// Returns the answer of `http.load`. It contains a body that is known to be short; another body becomes a stream.
    ///
    /// - Parameters:
    ///   - call: The call whose caller reads the stream.
    ///   - holding: Objects that are retained until the body has ended.
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

    /// Returns the response that an answer of `http.load` specifies.
    ///
    /// - Parameter isLoaded: Whether a response was loaded. Its fields are then not changed.
    /// - Throws: `reply.invalid`, if the answer is not a valid response.
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
