import HTTPRules
import TaskKit

/// Header fields as JSON.
enum HeaderText {
    /// Returns the fields in their order. The JSON is an array of pairs, or an object.
    static func pairs(_ json: JSON?) throws(JSONMismatch) -> [(name: String, value: String)] {
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

    /// Returns the fields as an array of pairs.
    static func json(_ headers: some Sequence<HeaderField>) -> JSON {
        .array(headers.map { [.string($0.name), .string($0.value)] })
    }

    static let schema: JSON = [
        "anyOf": [
            ["type": "object", "additionalProperties": ["type": "string"]],
            [
                "type": "array",
                "items": ["type": "array", "items": ["type": "string"], "minItems": 2, "maxItems": 2],
            ],
        ]
    ]
}

extension JSONMismatch {
    fileprivate static func unknown(_ key: String, _ path: String, _ known: [String]) -> JSONMismatch {
        JSONMismatch(path: "\(path).\(key)", expected: "a known key", got: JSON.string(key).text, knownKeys: known)
    }
}

extension Decoder {
    /// Throws an error if the decoded object has an unknown member. The error does not contain the member's value.
    func refuseUnknown(_ known: [String]) throws {
        for key in try container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
            throw JSONMismatch.unknown(key.stringValue, "$", known)
        }
    }
}

/// A coding key with any name.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}

extension JSON {
    /// Throws an error if this object has an unknown member, because a requested option must not be ignored.
    func refuseUnknown(_ known: [String], _ path: String) throws(JSONMismatch) {
        for key in objectValue?.keys ?? [] where !known.contains(key) { throw .unknown(key, path, known) }
    }

    /// Returns the bytes as text if they are UTF-8, otherwise in base 64.
    static func body(_ bytes: [UInt8]) -> JSONObject {
        if let text = String(validating: bytes, as: UTF8.self) { return ["text": .string(text)] }
        return ["base64": .string(base64(bytes))]
    }

    /// Returns the bytes in base 64.
    static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }
}
