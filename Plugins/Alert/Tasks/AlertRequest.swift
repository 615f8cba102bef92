import TaskKit

/// The options of `Alert`.
struct AlertRequest: Decodable, Sendable {
    /// The kind of answer that the alert requests.
    enum Kind: String, Codable, Sendable, CaseIterable {
        /// The person only takes note.
        case alert
        /// The person chooses a button.
        case confirm
        /// The person enters a line and chooses a button.
        case prompt
    }

    /// The received options, including unknown ones. Numbers keep their notation.
    let options: JSON
    let title: String?
    let content: String
    let kind: Kind
    /// The labels of the buttons; at least one, none of them empty.
    ///
    /// The option `buttons` if it is given, else `btn` alone. The default is `OK`, and also `Cancel` unless the kind is
    /// `alert`.
    let buttons: [String]
    let defaultText: String?
    /// The time limit for a presenter that waits for a person; `nil` for no limit but the end of the call.
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
            "defaultText": ["type": "string", "description": "the initial text of a prompt"],
            "timeout": [
                "type": "integer", "minimum": 1, "description": "milliseconds for an answer; default: no limit",
            ],
        ],
        "required": ["content"],
    ]
}
