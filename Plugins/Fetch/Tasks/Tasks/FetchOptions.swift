import HTTPRules
import TaskKit

/// The options of `http.fetch`.
struct FetchOptions: Decodable, Sendable {
    /// The time when the result is sent.
    enum Respond: String, Codable, Sendable, CaseIterable {
        /// When the body is complete, or too long for a result.
        case body
        /// When the headers have arrived. The body is a stream.
        case headers
    }

    /// The form of the body in the result.
    enum Form: String, Codable, Sendable, CaseIterable {
        case auto
        case text
        case json
        case base64
        case stream
        case file
        case none
    }

    let url: String
    let method: String
    let headers: [(name: String, value: String)]
    let body: FetchBody?
    /// The request's body if it is a file; `nil` if it is not a file or there is none.
    let file: FileBody?
    let redirect: FetchRequest.RedirectMode
    let respond: Respond
    let form: Form
    let maximumBytes: Int64?
    let connectTimeout: Duration?
    let idleTimeout: Duration?
    let integrity: String?
    let cache: CachePolicy
    let key: String?
    let range: ByteRange?
    let credentials: CookieUse.Credentials?
    let profile: ProfileName?
    let authenticates: Bool
    /// The path of the file that the response's body is written to; `nil` if there is none.
    let saveTo: String?
    let replaces: Bool
    /// Whether the result contains a HAR of requests and responses.
    let har: Bool

    private struct Fields: Decodable {
        var url: String
        var method: String?
        var headers: JSON?
        var body: JSON?
        var redirect: FetchRequest.RedirectMode?
        var respond: Respond?
        var `as`: Form?
        var maxBytes: Int64?
        var connectMs: Int?
        var idleMs: Int?
        var integrity: String?
        var cache: JSON?
        var key: String?
        var range: JSON?
        var credentials: CookieUse.Credentials?
        var profile: String?
        var authenticate: Bool?
        var saveTo: String?
        var replace: Bool?
        var har: Bool?
    }

    private static let known = [
        "url", "method", "headers", "body", "redirect", "respond", "as", "maxBytes", "connectMs", "idleMs", "integrity",
        "cache", "key", "range", "credentials", "profile", "authenticate", "saveTo", "replace", "har",
    ]

    init(from decoder: any Decoder) throws {
        let fields = try Fields(from: decoder)
        try decoder.refuseUnknown(Self.known)
        url = fields.url
        method = try RequestCheck.method(fields.method ?? "GET")
        headers = try HeaderText.pairs(fields.headers)
        let given = fields.body.flatMap { $0.isNull ? nil : $0 }
        file = try given.flatMap { try FileBody($0) }
        body = file == nil ? try given.map { try FetchBody($0) } : nil
        if given != nil, ["GET", "HEAD"].contains(method) {
            throw JSONMismatch(path: "$.body", expected: "a method that takes a body", got: method)
        }
        redirect = fields.redirect ?? .follow
        respond = fields.respond ?? .body
        form = fields.as ?? .auto
        maximumBytes = try FetchSettings.checked(fields.maxBytes, in: FetchSettings.bodyRange, "maxBytes")
        connectTimeout = try Self.time(fields.connectMs, "connectMs")
        idleTimeout = try Self.time(fields.idleMs, "idleMs")
        integrity = fields.integrity
        cache = try CacheOptions.policy(fields.cache)
        key = try CacheOptions.key(fields.key)
        range = try CacheOptions.range(fields.range, method, headers)
        credentials = fields.credentials
        profile = try fields.profile.map { (text) throws(JSONMismatch) in try ProfileName(option: text) }
        authenticates = fields.authenticate ?? false
        saveTo = fields.saveTo
        replaces = fields.replace ?? false
        har = fields.har ?? false
        guard (saveTo != nil) == (form == .file), saveTo != nil || fields.replace == nil else {
            throw JSONMismatch(path: "$.saveTo", expected: "as: \"file\" with saveTo, or neither", got: "one of them")
        }
        guard saveTo == nil || respond == .body else {
            throw JSONMismatch(path: "$.respond", expected: "body, with as: \"file\"", got: respond.rawValue)
        }
    }

    private static func time(_ milliseconds: Int?, _ key: String) throws(JSONMismatch) -> Duration? {
        try FetchSettings.checked(milliseconds, in: FetchSettings.timeRange, key).map { .milliseconds($0) }
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "url": ["type": "string", "description": "http or https, without user and password"],
            "method": ["type": "string", "default": "GET"],
            "headers": HeaderText.schema,
            "body": FetchBody.schema,
            "redirect": schema(of: FetchRequest.RedirectMode.self, "follow"),
            "respond": schema(of: Respond.self, "body"),
            "as": schema(of: Form.self, "auto"),
            "maxBytes": [
                "type": "integer", "minimum": 0, "maximum": .number(JSONNumber(FetchSettings.bodyRange.upperBound)),
                "description": "the maximum length of the body, both as received and decoded",
            ],
            "connectMs": [
                "type": "integer", "minimum": 1,
                "description": "the maximum time in milliseconds until the request can be sent",
            ],
            "idleMs": [
                "type": "integer", "minimum": 1, "description": "the maximum time in milliseconds without a byte",
            ],
            "integrity": ["type": "string", "description": "sha256-…, sha384-… or sha512-…"],
            "cache": CacheOptions.policySchema,
            "key": ["type": "string", "description": "distinguishes stored responses to the same URL"],
            "range": CacheOptions.rangeSchema,
            "credentials": [
                "enum": .array(CookieUse.Credentials.allCases.map { .string($0.rawValue) }),
                "description": "which cookies are sent and stored; same-site for pages, else include, is the default",
            ],
            "authenticate": [
                "type": "boolean", "default": false,
                "description": "whether ui.credentials asks the user for name and password if the server requires them",
            ],
            "saveTo": [
                "type": "string", "description": "the path of the file to which the body is written, with as: file",
            ],
            "replace": ["type": "boolean", "default": false, "description": "whether an existing file is replaced"],
            "har": [
                "type": "boolean", "default": false, "description": "whether the result has a HAR of the requests",
            ],
            "profile": ["type": "string", "description": "the cookie profile; default if none is named"],
        ],
        "required": ["url"],
        "additionalProperties": false,
    ]

    private static func schema<T: CaseIterable & RawRepresentable<String>>(of type: T.Type, _ standard: JSON) -> JSON {
        ["enum": .array(type.allCases.map { .string($0.rawValue) }), "default": standard]
    }
}
