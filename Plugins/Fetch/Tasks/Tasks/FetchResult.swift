import HTTPRules
import TaskKit

/// The body of a response that is being read. One Swift task.
final class BodyReading: Sendable {
    private let response: LoadedResponse
    // These are held until the body has ended.
    private let ticket: TransferQuota.Ticket
    private let upload: Upload?
    private let metrics: FetchMetrics

    init(_ response: LoadedResponse, ticket: TransferQuota.Ticket, upload: Upload?, metrics: FetchMetrics) {
        (self.response, self.ticket, self.upload, self.metrics) = (response, ticket, upload, metrics)
    }

    /// Returns the next bytes, or the end.
    ///
    /// - Returns: The bytes, or at the end the summary; the other one is `nil`.
    func next() async throws(BridgeError) -> (bytes: [UInt8]?, summary: TransferSummary?) {
        switch try await response.last.body.next() {
        case .bytes(let bytes): return (bytes, nil)
        case .end(let summary):
            metrics.received.add(Double(summary.wireBytes))
            return (nil, summary)
        case .head: throw .brokenProtocol("the server sent two responses")
        }
    }

    /// Writes a body directly into a pipe if it comes from the network; see ``RunningTransfer/pour(into:)``. Other
    /// bodies are not written, and the result is 0.
    func pour(into pipe: Int32) async -> Int {
        await (response.last.body as? RunningTransfer)?.pour(into: pipe) ?? 0
    }

    /// Discards the rest of the body.
    func cancel() { response.last.body.cancel() }
}

/// The result of `http.fetch`.
struct FetchResult {
    private let response: LoadedResponse
    private let reading: BodyReading
    private let saving: BodySaving?
    private let isPage: Bool
    private let har: (entries: [JSON], omitted: Int)?

    /// Creates the result of a fetch.
    ///
    /// - Parameters:
    ///   - saving: The writer of the body's file; `nil` if the body is not saved.
    ///   - har: The entries of requests and responses; `nil` if the caller has not requested them.
    init(
        _ response: LoadedResponse, _ reading: BodyReading, _ saving: BodySaving?, isPage: Bool,
        har: (entries: [JSON], omitted: Int)?
    ) {
        (self.response, self.reading, self.saving, self.isPage, self.har) = (response, reading, saving, isPage, har)
    }

    func json(_ options: FetchOptions, _ settings: FetchSettings, _ call: Call) async throws(BridgeError) -> JSON {
        var result = head
        if options.form == .none {
            reading.cancel()
            return .object(result)
        }
        guard options.respond == .body, options.form != .stream else {
            result["body"] = try await stream([], call)
            return .object(result)
        }
        if let saving, (200...299).contains(response.last.head.status) {
            let (file, summary) = try await saving.save(reading)
            result["body"] = ["file": file]
            note(summary, in: &result)
            return .object(result)
        }
        let (bytes, summary) = try await collect(upTo: settings.inlineBytes)
        if let summary {
            result["body"] = try await value(bytes, options.form, call)
            note(summary, in: &result)
        } else {
            try checkStreams(options.form, settings)
            result["body"] = try await stream(bytes, call)
        }
        return .object(result)
    }

    private func note(_ summary: TransferSummary, in result: inout JSONObject) {
        result["bytes"] = [
            "wire": .number(JSONNumber(summary.wireBytes)), "decoded": .number(JSONNumber(summary.decodedBytes)),
        ]
        result["totalMs"] = .number(JSONNumber(summary.total.wholeMilliseconds))
    }

    private func checkStreams(_ form: FetchOptions.Form, _ settings: FetchSettings) throws(BridgeError) {
        guard form != .auto, form != .file else { return }
        let limit = settings.inlineBytes
        throw .tooLarge(
            .body, limit: Int64(limit), "the body has more than the \(limit) bytes of a result; fetch it as a stream")
    }

    private var head: JSONObject {
        let head = response.last.head
        var result: JSONObject = [
            "status": .number(JSONNumber(head.status)), "reason": .string(head.reason),
            "url": .string(response.url.textWithFragment), "redirects": .array(response.redirects.map(Self.redirect)),
            "headers": .array(head.headers.filter { !isPage || !$0.isSetCookie }.map(Self.pair)),
            "from": .string(response.last.from), "protocol": .string(head.version),
        ]
        result["har"] = har.map { HAREntry.log($0.entries, omitted: $0.omitted) }
        result["cache"] = response.last.cache.map { $0.json }
        return result
    }

    private static func redirect(_ redirect: LoadedResponse.Redirect) -> JSON {
        ["status": .number(JSONNumber(redirect.status)), "url": .string(redirect.url.textWithFragment)]
    }

    private static func pair(_ field: HeaderField) -> JSON { [.string(field.name), .string(field.value)] }

    /// Reads the body until it has ended or is longer than `limit`.
    ///
    /// - Returns: The bytes, and the summary if they are the whole body; otherwise `nil`.
    private func collect(upTo limit: Int) async throws(BridgeError) -> ([UInt8], TransferSummary?) {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let next = try await reading.next()
            guard let more = next.bytes else { return (bytes, next.summary) }
            bytes += more
        }
        return (bytes, nil)
    }

    /// Returns the body in a form. A long body is converted on another thread, not on the loop.
    private func value(_ bytes: [UInt8], _ form: FetchOptions.Form, _ call: Call) async throws(BridgeError) -> JSON {
        let text = BodyText(bytes, response.last.head.headers)
        guard bytes.count > 16 << 10 else { return try text.value(form) }
        let outcome = try? await call.blocking {
            Result { () throws(BridgeError) in try text.value(form) }
        }
        guard let outcome else { throw .fetchCancelled }
        return try outcome.get()
    }

    /// Returns the rest of the body as a stream, which may continue after the call.
    private func stream(_ first: [UInt8], _ call: Call) async throws(BridgeError) -> JSON {
        let headers = response.last.head.headers
        let isCoded = headers.contains(named: "Content-Encoding")
        let length = isCoded ? nil : headers.first(named: "Content-Length").flatMap { Int($0) }
        let reading = reading
        let stream = try await call.makeStream(
            type: headers.first(named: "Content-Type").flatMap { $0.utf8.count <= 256 ? $0 : nil }, totalBytes: length
        ) { out in
            defer { reading.cancel() }
            if !first.isEmpty { try await out.write(first) }
            try await out.lendPipe(onLeave: { reading.cancel() }, to: { await reading.pour(into: $0) })
            while let bytes = try await reading.next().bytes { try await out.write(bytes) }
        }
        var body: JSONObject = ["stream": .string(stream.name)]
        body["bytes"] = length.map { .number(JSONNumber($0)) }
        return .object(body)
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "status": ["type": "integer"],
            "reason": ["type": "string"],
            "url": ["type": "string", "description": "of the last request"],
            "redirects": [
                "type": "array",
                "items": ["type": "object", "properties": ["status": ["type": "integer"], "url": ["type": "string"]]],
            ],
            "headers": ["type": "array", "items": ["type": "array", "items": ["type": "string"]]],
            "body": [
                "type": "object",
                "properties": [
                    "text": ["type": "string"], "charset": ["type": "string"], "json": true,
                    "base64": ["type": "string"], "stream": ["type": "string", "format": "trestle-stream"],
                    "bytes": ["type": "integer"],
                    "file": [
                        "type": "object",
                        "properties": [
                            "path": ["type": "string"], "bytes": ["type": "integer"], "sha256": ["type": "string"],
                        ],
                    ],
                ],
            ],
            "from": ["type": "string"],
            "protocol": ["type": "string"],
            "har": ["type": "object", "description": "HAR 1.2 of the requests, without bodies"],
            "cache": CacheReport.schema,
            "bytes": [
                "type": "object", "properties": ["wire": ["type": "integer"], "decoded": ["type": "integer"]],
            ],
            "totalMs": ["type": "integer", "description": "milliseconds of the last request"],
        ],
        "required": ["status", "reason", "url", "redirects", "headers", "from", "protocol"],
    ]
}

extension HeaderField {
    fileprivate var isSetCookie: Bool { isNamed("Set-Cookie") || isNamed("Set-Cookie2") }
}
