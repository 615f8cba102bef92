import TaskKit

/// What was answered to an alert.
struct AlertChoice: Sendable, Hashable {
    /// Which of the request's buttons was chosen, from 0.
    var index: Int
    /// What was written; only of a prompt.
    var text: String?

    /// A choice for a request.
    init(index: Int, text: String? = nil) {
        self.index = index
        self.text = text
    }

    /// What a client answers to `ui.alert`: `{button, index, text?}`. Nothing else of it is kept: it may be as long as
    /// a message.
    struct Answer: Decodable, Sendable {
        var button: String?
        var index: Int?
        var text: String?
    }

    /// The choice that an answer says. Of `button` and `index` one is enough, but
    /// where there are both they must agree; of equal labels `button` means the first.
    ///
    /// - Throws: `JSONMismatch`, where it is no answer to this request.
    init(answer: Answer, to request: AlertRequest) throws(JSONMismatch) {
        let labels = request.buttons.map { JSON.string($0).text }.joined(separator: ", ")
        switch (answer.index, answer.button) {
        case (let index?, let button):
            guard request.buttons.indices.contains(index) else {
                throw JSONMismatch(
                    path: "$.index", expected: "an integer from 0 to \(request.buttons.count - 1)",
                    got: "number \(index)")
            }
            if let button, button != request.buttons[index] {
                throw JSONMismatch(
                    path: "$.button", expected: JSON.string(request.buttons[index]).text, got: JSON.string(button).text)
            }
            self.index = index
        case (nil, let button?):
            guard let index = request.buttons.firstIndex(of: button) else {
                throw JSONMismatch(path: "$.button", expected: "one of: \(labels)", got: JSON.string(button).text)
            }
            self.index = index
        case (nil, nil):
            throw JSONMismatch(path: "$.button", expected: "one of: \(labels)", got: "nothing")
        }
        text = request.kind == .prompt ? answer.text : nil
    }

    /// The result of `Alert`: the options as they came, and what was chosen.
    func result(of request: AlertRequest, by presenter: PresenterName) -> JSON {
        var result = request.options.objectValue ?? JSONObject()
        result["button"] = .string(request.buttons[index])
        result["index"] = .number(JSONNumber(index))
        // Removed where there is none: an option of that name is no answer.
        result["text"] = text.map { .string($0) }
        result["presenter"] = .string(presenter.rawValue)
        return .object(result)
    }

    static let schema: JSON = [
        "type": "object",
        "description": "the options, and",
        "properties": [
            "button": ["type": "string", "description": "the label that was chosen"],
            "index": ["type": "integer", "minimum": 0],
            "text": ["type": "string", "description": "what was written; only of a prompt"],
            "presenter": ["enum": .array(PresenterName.allCases.map { .string($0.rawValue) })],
        ],
        "required": ["button", "index", "presenter"],
    ]
}
