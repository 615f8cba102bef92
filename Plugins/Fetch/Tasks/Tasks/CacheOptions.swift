import HTTPRules
import TaskKit

/// The options of `http.fetch` about the cache.
enum CacheOptions {
    /// The maximum length of a key, enough for names and digests.
    private static let maximumKeyBytes = 1024

    /// Returns the policy for the name in Fetch, or for the name or number in `NSURLRequest`.
    static func policy(_ json: JSON?) throws(JSONMismatch) -> CachePolicy {
        let policy: CachePolicy?
        switch json {
        case nil, .null: policy = .useProtocol
        case .string(let name): policy = CachePolicy(name: name)
        case let other?: policy = other.int64Value.flatMap { CachePolicy(number: Int($0)) }
        }
        if let policy { return policy }
        let names = CachePolicy.allCases.map(\.fetchName).joined(separator: ", ")
        throw JSONMismatch(
            path: "$.cache", expected: "one of \(names), or a name or number of NSURLRequest's",
            got: json?.text ?? "nothing")
    }

    static func key(_ key: String?) throws(JSONMismatch) -> String? {
        guard let key, key.utf8.count > maximumKeyBytes else { return key }
        throw JSONMismatch(
            path: "$.key", expected: "at most \(maximumKeyBytes) bytes", got: "\(key.utf8.count)")
    }

    /// Returns the requested range of the body; `nil` if the whole body is requested.
    static func range(
        _ json: JSON?, _ method: String, _ headers: [(name: String, value: String)]
    ) throws(JSONMismatch) -> ByteRange? {
        guard let json, !json.isNull else { return nil }
        try json.refuseUnknown(["from", "to", "last"], "$.range")
        guard method == "GET", !headers.contains(where: { $0.name.lowercased() == "range" }) else {
            throw JSONMismatch(path: "$.range", expected: "a GET without a header Range", got: method)
        }
        let (from, to, last) = (try number("from", json), try number("to", json), try number("last", json))
        switch (from, to, last) {
        case (let from?, let to, nil) where (to ?? from) >= from: return .bounds(first: from, last: to)
        case (nil, nil, let last?) where last > 0: return .suffix(last)
        default:
            throw JSONMismatch(path: "$.range", expected: "{from, to?} or {last}, in bytes", got: json.text)
        }
    }

    private static func number(_ name: String, _ json: JSON) throws(JSONMismatch) -> Int64? {
        guard let value = json[name], !value.isNull else { return nil }
        if let number = value.int64Value, number >= 0, number < .max { return number }
        throw JSONMismatch(path: "$.range.\(name)", expected: "a number of bytes", got: value.text)
    }

    static let policySchema: JSON = [
        "anyOf": [["type": "string"], ["type": "integer", "minimum": 0, "maximum": 5]],
        "default": "default",
        "description": "how the cache is used: default, no-store, reload, no-cache, force-cache, only-if-cached, …",
    ]

    static let rangeSchema: JSON = [
        "type": "object",
        "properties": [
            "from": ["type": "integer", "minimum": 0, "description": "the first byte"],
            "to": ["type": "integer", "minimum": 0, "description": "the last byte; without it, to the end"],
            "last": [
                "type": "integer", "minimum": 1,
                "description": "the number of bytes at the end, instead of from and to",
            ],
        ],
        "additionalProperties": false,
    ]
}
