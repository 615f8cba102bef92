import TaskKit

/// What is to be shown: the options of `Alert`.
struct AlertRequest: Decodable, Sendable {
    /// What is asked of the person.
    enum Kind: String, Codable, Sendable, CaseIterable {
        /// To take note.
        case alert
        /// To choose.
        case confirm
        /// To write a line, and choose.
        case prompt
    }

    /// The options as they came, including those that are unknown here, with numbers as they were written.
    let options: JSON
    let title: String?
    let content: String
    let kind: Kind
    /// What can be chosen; at least one, none of them empty.
    ///
    /// `buttons` where it is given, else `btn` alone, else `OK`, and `Cancel` where there is something to choose.
    let buttons: [String]
    let defaultText: String?
    /// How long the presenters that wait for a person may wait; nil: as long as the call lives.
    let timeout: Duration?

    private struct Fields: Decodable {
        var title: String?
        var content: String
        var btn: String?
        var buttons: [String]?
        var kind: Kind?
        var defaultText: String?
        var timeout: Int64?
    }

    init(from decoder: any Decoder) throws {
        let fields = try Fields(from: decoder)
        options = try JSON(from: decoder)
        title = fields.title
        content = fields.content
        kind = fields.kind ?? .alert
        buttons = try Self.buttons(fields, kind)
        defaultText = fields.defaultText
        timeout = try fields.timeout.map { milliseconds in
            guard milliseconds > 0 else {
                throw JSONMismatch(
                    path: "$.timeout", expected: "milliseconds, more than 0", got: "number \(milliseconds)")
            }
            return .milliseconds(milliseconds)
        }
    }

    private static func buttons(_ fields: Fields, _ kind: Kind) throws(JSONMismatch) -> [String] {
        if let buttons = fields.buttons {
            if buttons.isEmpty {
                throw JSONMismatch(path: "$.buttons", expected: "at least one label", got: "an empty array")
            }
            if let empty = buttons.firstIndex(of: "") { throw noLabel("$.buttons[\(empty)]") }
            return buttons
        }
        if let button = fields.btn {
            if button.isEmpty { throw noLabel("$.btn") }
            return [button]
        }
        return kind == .alert ? ["OK"] : ["OK", "Cancel"]
    }

    private static func noLabel(_ path: String) -> JSONMismatch {
        JSONMismatch(path: path, expected: "a label of at least one character", got: "an empty string")
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "title": ["type": "string"],
            "content": ["type": "string"],
            "btn": ["type": "string", "minLength": 1, "description": "the label of the only button"],
            "buttons": [
                "type": "array", "items": ["type": "string", "minLength": 1], "minItems": 1,
                "description": "default: [btn], else OK; for confirm and prompt OK and Cancel",
            ],
            "kind": ["enum": .array(Kind.allCases.map { .string($0.rawValue) }), "default": "alert"],
            "defaultText": ["type": "string", "description": "what a prompt begins with"],
            "timeout": [
                "type": "integer", "minimum": 1, "description": "milliseconds for an answer; default: no limit",
            ],
        ],
        "required": ["content"],
    ]
}
