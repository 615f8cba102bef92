import HTTPRules
import TaskKit

/// A body as options and answers represent it.
enum FetchBody: Sendable {
    case bytes([UInt8], type: String?)
    case stream(name: String, byteCount: Int?, type: String?)

    /// The media type; `nil` if none is specified.
    var type: String? {
        switch self {
        case .bytes(_, let type), .stream(_, _, let type): type
        }
    }

    private static let forms = ["text", "json", "base64", "form", "stream"]

    init(_ json: JSON) throws(JSONMismatch) {
        let path = "$.body"
        let given = json.objectValue?.keys.filter { Self.forms.contains($0) } ?? []
        guard given.count == 1, let form = given.first, let value = json[form] else {
            throw JSONMismatch(
                path: path, expected: "an object with one of: \(Self.forms.joined(separator: ", "))",
                got: json.typeName == "object" ? "\(given.count) of them" : json.typeName)
        }
        try json.refuseUnknown(form == "stream" ? [form, "type", "bytes"] : [form, "type"], path)
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

    static func type(_ json: JSON?) throws(JSONMismatch) -> String? {
        guard let json, !json.isNull else { return nil }
        guard let text = json.stringValue, HeaderField.isValue(text) else {
            throw JSONMismatch(path: "$.body.type", expected: "a media type", got: json.typeName)
        }
        return text
    }

    private static func count(_ json: JSON?) throws(JSONMismatch) -> Int? {
        guard let json, !json.isNull else { return nil }
        guard let count = json.int64Value, count >= 0 else {
            throw JSONMismatch(path: "$.body.bytes", expected: "the number of bytes", got: json.text)
        }
        return Int(count)
    }

    private static func bytes(_ text: String) throws(JSONMismatch) -> [UInt8] {
        let bytes = Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) }
        guard let bytes else { throw JSONMismatch(path: "$.body.base64", expected: "base 64", got: "something else") }
        return bytes
    }

    /// Encodes `application/x-www-form-urlencoded` as the URL standard defines it.
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
            bytes += Array("\(FormText.escaped(name))=\(FormText.escaped(text))".utf8)
        }
        return bytes
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "text": ["type": "string"],
            "json": true,
            "base64": ["type": "string"],
            "form": ["type": "object", "additionalProperties": ["type": "string"]],
            "stream": ["type": "string", "format": "trestle-stream"],
            "file": ["type": "string", "description": "the path of a file, below a folder of download_dirs"],
            "bytes": ["type": "integer", "minimum": 0, "description": "the number of bytes of the stream"],
            "type": ["type": "string", "description": "the media type"],
        ],
        "additionalProperties": false,
    ]
}

/// Escapes names and values of `application/x-www-form-urlencoded`.
enum FormText {
    static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: [byte]
            case UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): [byte]
            case UInt8(ascii: " "): [UInt8(ascii: "+")]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
