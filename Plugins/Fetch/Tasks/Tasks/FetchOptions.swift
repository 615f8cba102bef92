import HTTPRules
import TaskKit

/// The options of `http.fetch`.
struct FetchOptions: Decodable, Sendable {
    /// When the result comes.
    enum Respond: String, Codable, Sendable, CaseIterable {
        /// When the body is all there, or too long for a result.
        case body
        /// With the headers; the body is a stream.
        case headers
    }

    /// In which form the body comes.
    enum Form: String, Codable, Sendable, CaseIterable {
        case auto
        case text
        case json
        case base64
        case stream
        case none
    }

    let url: String
    let method: String
    let headers: [(name: String, value: String)]
    let body: FetchBody?
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
    let profile: String?

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
    }

    private static let known = [
        "url", "method", "headers", "body", "redirect", "respond", "as", "maxBytes", "connectMs", "idleMs", "integrity",
        "cache", "key", "range",
        "credentials", "profile",
    ]

    init(from decoder: any Decoder) throws {
        let fields = try Fields(from: decoder)
        try Self.refuseUnknown(try JSON(from: decoder), Self.known, "$")
        url = fields.url
        method = try RequestCheck.method(fields.method ?? "GET")
        headers = try Self.pairs(fields.headers)
        body = try fields.body.flatMap { $0.isNull ? nil : try FetchBody($0) }
        if body != nil, ["GET", "HEAD"].contains(method) {
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
        profile = fields.profile
    }

    private static func time(_ milliseconds: Int?, _ key: String) throws(JSONMismatch) -> Duration? {
        try FetchSettings.checked(milliseconds, in: FetchSettings.timeRange, key).map { .milliseconds($0) }
    }

    /// - Throws: Where an object has a member that is not known: what is asked for must not be passed over.
    static func refuseUnknown(_ json: JSON, _ known: [String], _ path: String) throws(JSONMismatch) {
        for key in json.objectValue?.keys ?? [] where !known.contains(key) {
            throw JSONMismatch(path: "\(path).\(key)", expected: "no such key", got: "one", knownKeys: known)
        }
    }

    /// The fields in their order: pairs, or the members of an object.
    private static func pairs(_ json: JSON?) throws(JSONMismatch) -> [(name: String, value: String)] {
        switch json {
        case nil, .null: return []
        case .object(let object):
            var pairs: [(name: String, value: String)] = []
            for (name, value) in object {
                guard let text = value.stringValue else {
                    throw JSONMismatch(path: "$.headers.\(name)", expected: "a string", got: value.typeName)
                }
                pairs.append((name, text))
            }
            return pairs
        case .array(let elements):
            var pairs: [(name: String, value: String)] = []
            for (index, element) in elements.enumerated() {
                guard let pair = element.arrayValue, pair.count == 2, let name = pair[0].stringValue,
                    let value = pair[1].stringValue
                else {
                    throw JSONMismatch(
                        path: "$.headers[\(index)]", expected: "an array of name and value", got: element.typeName)
                }
                pairs.append((name, value))
            }
            return pairs
        case let other?:
            throw JSONMismatch(path: "$.headers", expected: "an object, or an array of pairs", got: other.typeName)
        }
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "url": ["type": "string", "description": "http or https, without user and password"],
            "method": ["type": "string", "default": "GET"],
            "headers": [
                "anyOf": [
                    ["type": "object", "additionalProperties": ["type": "string"]],
                    [
                        "type": "array",
                        "items": ["type": "array", "items": ["type": "string"], "minItems": 2, "maxItems": 2],
                    ],
                ]
            ],
            "body": FetchBody.schema,
            "redirect": schema(of: FetchRequest.RedirectMode.self, "follow"),
            "respond": schema(of: Respond.self, "body"),
            "as": schema(of: Form.self, "auto"),
            "maxBytes": [
                "type": "integer", "minimum": 0, "maximum": .number(JSONNumber(FetchSettings.bodyRange.upperBound)),
                "description": "how long the body may be, as it comes and decoded",
            ],
            "connectMs": [
                "type": "integer", "minimum": 1, "description": "milliseconds until the request can be sent",
            ],
            "idleMs": ["type": "integer", "minimum": 1, "description": "milliseconds without a byte"],
            "integrity": ["type": "string", "description": "sha256-…, sha384-… or sha512-…"],
            "cache": CacheOptions.policySchema,
            "key": ["type": "string", "description": "tells apart stored responses to the same URL"],
            "range": CacheOptions.rangeSchema,
            "credentials": [
                "enum": .array(CookieUse.Credentials.allCases.map { .string($0.rawValue) }),
                "description": "which cookies are sent and stored; same-site for pages, else include, is the default",
            ],
            "profile": ["type": "string", "description": "the set of cookies; default is the one that is used"],
        ],
        "required": ["url"],
        "additionalProperties": false,
    ]

    private static func schema<T: CaseIterable & RawRepresentable<String>>(of type: T.Type, _ standard: JSON) -> JSON {
        ["enum": .array(type.allCases.map { .string($0.rawValue) }), "default": standard]
    }
}

/// The body of a request, as the options say it.
enum FetchBody: Sendable {
    case bytes([UInt8], type: String?)
    case stream(name: String, byteCount: Int?, type: String?)

    private static let forms = ["text", "json", "base64", "form", "stream"]

    init(_ json: JSON) throws(JSONMismatch) {
        let path = "$.body"
        let given = json.objectValue?.keys.filter { Self.forms.contains($0) } ?? []
        guard given.count == 1, let form = given.first, let value = json[form] else {
            throw JSONMismatch(
                path: path, expected: "an object with one of: \(Self.forms.joined(separator: ", "))",
                got: json.typeName == "object" ? "\(given.count) of them" : json.typeName)
        }
        try FetchOptions.refuseUnknown(json, form == "stream" ? [form, "type", "bytes"] : [form, "type"], path)
        let type = try Self.type(json["type"])
        switch form {
        case "json": self = .bytes(Array(value.text.utf8), type: type ?? "application/json")
        case "form":
            self = .bytes(try Self.form(value), type: type ?? "application/x-www-form-urlencoded;charset=UTF-8")
        default:
            guard let text = value.stringValue else {
                throw JSONMismatch(path: "\(path).\(form)", expected: "a string", got: value.typeName)
            }
            switch form {
            case "text": self = .bytes(Array(text.utf8), type: type ?? "text/plain;charset=UTF-8")
            case "base64": self = .bytes(try Self.bytes(text), type: type)
            default: self = .stream(name: text, byteCount: try Self.count(json["bytes"]), type: type)
            }
        }
    }

    private static func type(_ json: JSON?) throws(JSONMismatch) -> String? {
        guard let json, !json.isNull else { return nil }
        guard let text = json.stringValue, HeaderField.isValue(text) else {
            throw JSONMismatch(path: "$.body.type", expected: "a media type", got: json.typeName)
        }
        return text
    }

    private static func count(_ json: JSON?) throws(JSONMismatch) -> Int? {
        guard let json, !json.isNull else { return nil }
        guard let count = json.int64Value, count >= 0 else {
            throw JSONMismatch(path: "$.body.bytes", expected: "how many bytes there are", got: json.text)
        }
        return Int(count)
    }

    private static func bytes(_ text: String) throws(JSONMismatch) -> [UInt8] {
        let bytes = Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) }
        guard let bytes else { throw JSONMismatch(path: "$.body.base64", expected: "base 64", got: "something else") }
        return bytes
    }

    /// `application/x-www-form-urlencoded`, as the URL standard has it.
    private static func form(_ json: JSON) throws(JSONMismatch) -> [UInt8] {
        guard let members = json.objectValue else {
            throw JSONMismatch(path: "$.body.form", expected: "an object of strings", got: json.typeName)
        }
        var bytes: [UInt8] = []
        for (name, value) in members {
            guard let text = value.stringValue else {
                throw JSONMismatch(path: "$.body.form.\(name)", expected: "a string", got: value.typeName)
            }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += escaped(name) + [UInt8(ascii: "=")] + escaped(text)
        }
        return bytes
    }

    private static func escaped(_ text: String) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: [byte]
            case UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): [byte]
            case UInt8(ascii: " "): [UInt8(ascii: "+")]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "text": ["type": "string"],
            "json": true,
            "base64": ["type": "string"],
            "form": ["type": "object", "additionalProperties": ["type": "string"]],
            "stream": ["type": "string", "format": "trestle-stream"],
            "bytes": ["type": "integer", "minimum": 0, "description": "how many bytes the stream has"],
            "type": ["type": "string", "description": "the media type"],
        ],
        "additionalProperties": false,
    ]
}
