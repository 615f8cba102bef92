import HTTPRules
import TaskKit

/// A body as a part of a result.
struct BodyText: Sendable {
    /// The divisor for the maximum share of escaped bytes. With more escapes, text is longer than base 64.
    private static let maximumEscapes = 16
    private static let jsonTypes: Set<String> = ["application/json", "text/json"]
    private static let textTypes: Set<String> = [
        "application/javascript", "application/ecmascript", "application/xml", "application/x-www-form-urlencoded",
    ]

    private let bytes: [UInt8]
    /// The media type without parameters, in lower case.
    private let type: String
    /// The charset in lower case; `nil` if none is named.
    private let charset: String?

    init(_ bytes: [UInt8], _ headers: HeaderList) {
        self.bytes = bytes
        let value = headers.first(named: "Content-Type") ?? ""
        let end = value.utf8.firstIndex(of: UInt8(ascii: ";")) ?? value.endIndex
        let type = value.utf8[..<end].filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        self.type = String(decoding: type, as: UTF8.self).lowercased()
        guard end < value.endIndex else {
            charset = nil
            return
        }
        var scanner = FieldScanner(value[end...])
        var charset: String?
        while let parameter = scanner.parameter() {
            if charset == nil, parameter.name == "charset" { charset = parameter.value.lowercased() }
        }
        self.charset = charset
    }

    /// Returns the body in a form.
    ///
    /// - Throws: `http.decoding`, if the body cannot have this form.
    func value(_ form: FetchOptions.Form) throws(BridgeError) -> JSON {
        switch form {
        case .json:
            guard let json else { throw .undecodable("the body is not valid JSON") }
            return ["json": json]
        case .text:
            guard let text = text() else {
                throw .undecodable("the body is not a text in the charset \(charset ?? "utf-8"); see the option as")
            }
            return text
        case .base64: return base64
        case .auto, .stream, .file, .none: return automatic
        }
    }

    /// JSON or text if the media type specifies it and the bytes are valid, otherwise base 64.
    private var automatic: JSON {
        if Self.jsonTypes.contains(type) || type.hasSuffix("+json"), let json { return ["json": json] }
        let isText =
            type.hasPrefix("text/") || Self.textTypes.contains(type) || type.hasSuffix("+xml")
            || Self.jsonTypes.contains(type) || type.hasSuffix("+json") || charset != nil
        guard isText, let text = text(), isPlain else { return base64 }
        return text
    }

    private var json: JSON? { try? JSON(parsing: bytes) }

    /// Whether only few of its characters must be escaped in JSON.
    private var isPlain: Bool {
        bytes.count { $0 < 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 } * Self.maximumEscapes <= bytes.count
    }

    private func text() -> JSON? {
        switch charset {
        case nil, "utf-8", "utf8", "us-ascii":
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            return ["text": .string(text), "charset": "utf-8"]
        case "iso-8859-1": return ["text": .string(FieldText.decode(bytes)), "charset": "iso-8859-1"]
        default: return nil
        }
    }

    private var base64: JSON {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return ["base64": .string(String(decoding: text, as: UTF8.self))]
    }
}
