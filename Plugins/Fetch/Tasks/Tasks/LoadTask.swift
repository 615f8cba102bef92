import HTTPRules
import TaskKit

/// `http.load`: one hop of a fetch, which interceptors can inspect and change.
struct LoadTask: BridgeTask {
    static let name = InterceptorStage.task
    static let summary = "Loads one hop of a fetch. Interceptors of requests intercept this task."
    static let settings = TaskSettings(
        permission: FetchTask.name, optionPermissions: ["to": .reach], timeout: .unlimited,
        optionBytes: FetchTask.settings.optionBytes)
    static let optionsSchema: JSON? = LoadOptions.schema
    static let resultSchema: JSON? = LoadOptions.resultSchema

    let service: FetchService

    func run(_ options: LoadOptions, _ call: Call) async throws -> JSON { try await load(options, call) }

    private func load(_ options: LoadOptions, _ call: Call) async throws(BridgeError) -> JSON {
        let entry = options.id.flatMap { service.pending.hop($0, of: call.caller.session) }
        let settings = service.settings
        let reach = entry?.context.reach ?? Reach(call.caller, service.suffixes)
        let url = try Self.url(options, reach)
        var held: [any Sendable] = []
        var context: LoadContext
        if let entry {
            context = entry.context
        } else {
            let plugin = call.plugin
            let ticket = try await service.quota.ticket(
                for: call.caller.uid, settings, onWait: {}, post: { plugin.post($0) })
            held.append(ticket)
            context = LoadContext(
                call: call, settings: settings, request: FetchRequest.standard(settings, url, reach), reach: reach,
                ticket: ticket)
        }
        context = context.with(options.changing(context.request))
        context.chain.properties = options.properties ?? context.chain.properties
        // The options of a fetch were checked before. Interceptors may add fields that pages may not set.
        let headers = try RequestCheck(isPage: entry == nil && reach.isPage).fields(options.headers)
        var hop = Hop(url: url, method: options.method, headers: headers, body: nil)
        if let entry, url == entry.hop.url { hop.keyURL = entry.hop.keyURL }
        if let json = options.body {
            if let entry, json == entry.shownBody {
                hop.body = entry.hop.body
            } else {
                let upload = Upload(try Self.body(json), call)
                held.append(upload)
                hop.body = upload.body
            }
        }
        var response = try await (entry?.next ?? service.inner).load(hop, context)
        response.url = response.url ?? url
        return try await answer(response, entry, held, call)
    }

    private func answer(
        _ response: HopResponse, _ entry: PendingHop?, _ held: [any Sendable], _ call: Call
    ) async throws(BridgeError) -> JSON {
        var response = response
        let url = response.url
        // No interceptor receives the response: only the policy has decided.
        if let entry, held.isEmpty, !call.plugin.marks(ofTask: Self.name).contains(.intercepted) {
            entry.outcome = url.map { .init(url: $0, response: response) }
            return ["status": .number(JSONNumber(response.head.status)), "held": true]
        }
        entry?.outcome = url.map { .init(url: $0) }
        response.url = nil
        guard let url else { throw BridgeError(.internal, "a response has no URL") }
        return .object(try await HopText.answer(response, url, call, holding: held))
    }

    /// Returns the URL if `to` is its origin, because the policy has decided only about that origin.
    private static func url(_ options: LoadOptions, _ reach: Reach) throws(BridgeError) -> WebURL {
        let url: WebURL
        do throws(AddressRefusal) { url = try WebURL(options.url) } catch { throw .invalidURL(error) }
        let isNamed = options.to.map { (try? WebOrigin($0)) == url.origin } ?? reach.isOwnSite(url)
        guard isNamed else {
            throw .invalidOption("$.to", expected: "the origin of url, \(url.origin)", got: options.to ?? "nothing")
        }
        return url
    }

    private static func body(_ json: JSON) throws(BridgeError) -> FetchBody {
        do throws(JSONMismatch) { return try FetchBody(json) } catch { throw BridgeError(error) }
    }
}

/// The options of `http.load`.
struct LoadOptions: Decodable, Sendable {
    let id: String?
    let method: String
    let url: String
    let to: String?
    let headers: [(name: String, value: String)]
    let body: JSON?
    let credentials: CookieUse.Credentials?
    let cache: CachePolicy?
    let properties: JSON?

    private struct Fields: Decodable {
        var id: String?
        var method: String?
        var url: String
        var to: String?
        var headers: JSON?
        var body: JSON?
        var credentials: CookieUse.Credentials?
        var cache: JSON?
        var properties: JSON?
    }

    private static let known = [
        "id", "hop", "method", "url", "to", "headers", "body", "site", "credentials", "cache",
        "properties",
    ]

    init(from decoder: any Decoder) throws {
        let fields = try Fields(from: decoder)
        try decoder.refuseUnknown(Self.known)
        id = fields.id
        method = try RequestCheck.method(fields.method ?? "GET")
        url = fields.url
        to = fields.to
        headers = try HeaderText.pairs(fields.headers)
        body = fields.body.flatMap { $0.isNull ? nil : $0 }
        credentials = fields.credentials
        cache = try fields.cache.map { try CacheOptions.policy($0) }
        properties = fields.properties
    }

    /// Returns the options of the fetch with the changes of these options.
    func changing(_ request: FetchRequest) -> FetchRequest {
        var request = request
        request.cookies.credentials = credentials ?? request.cookies.credentials
        request.cache = cache ?? request.cache
        return request
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "id": ["type": "string", "description": "of the fetch's hop; passed on as it is"],
            "hop": ["type": "integer", "description": "its number, from 1"],
            "method": ["type": "string", "default": "GET"],
            "url": ["type": "string"],
            "to": ["type": "string", "description": "the origin of url; absent if it belongs to the page's own site"],
            "headers": HeaderText.schema,
            "body": ["type": "object", "description": "a body as of http.fetch, or held"],
            "site": ["type": "string", "description": "the origin of the page"],
            "credentials": ["enum": .array(CookieUse.Credentials.allCases.map { .string($0.rawValue) })],
            "cache": CacheOptions.policySchema,
            "properties": ["description": "properties for the interceptors of the next hop"],
        ],
        "required": ["url"],
        "additionalProperties": false,
    ]

    static let resultSchema: JSON = [
        "type": "object",
        "properties": [
            "status": ["type": "integer"], "reason": ["type": "string"], "url": ["type": "string"],
            "headers": HeaderText.schema, "body": ["type": "object"], "from": ["type": "string"],
            "protocol": ["type": "string"], "properties": true,
            "held": [
                "type": "boolean", "description": "whether Fetch keeps the response, of which this has only the status",
            ],
        ],
        "required": ["status"],
    ]
}
