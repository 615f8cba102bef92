import TaskKit

/// The answer to an alert.
struct AlertChoice: Sendable, Hashable {
    /// The index of the chosen button in the request, from 0.
    var index: Int
    /// The entered text; `nil` if the alert is not a prompt.
    var text: String?

    /// Creates a choice.
    init(index: Int, text: String? = nil) {
        self.index = index
        self.text = text
    }

    /// A client's answer to `ui.alert`: `{button, index, text?}`. Other members are dropped: the answer may be as long
    /// as a message.
    struct Answer: Decodable, Sendable {
        var button: String?
        var index: Int?
        var text: String?
    }

    /// Creates the choice that an answer states. Either `button` or `index` is enough; both must agree. If several
    /// labels are equal, `button` means the first.
    ///
    /// - Throws: `JSONMismatch` if it is not an answer to this request.
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

    /// Returns the result of `Alert`: the received options and the choice.
    func result(of request: AlertRequest, by presenter: PresenterName) -> JSON {
        var result = request.options.objectValue ?? JSONObject()
        result["button"] = .string(request.buttons[index])
        result["index"] = .number(JSONNumber(index))
        // Removed if there is no text: an option with that name is not an answer.
        result["text"] = text.map { .string($0) }
        result["presenter"] = .string(presenter.rawValue)
        return .object(result)
    }

    static let schema: JSON = [
        "type": "object",
        "description": "the options, with these members",
        "properties": [
            "button": ["type": "string", "description": "the label that was chosen"],
            "index": ["type": "integer", "minimum": 0],
            "text": ["type": "string", "description": "the entered text; only of a prompt"],
            "presenter": ["enum": .array(PresenterName.allCases.map { .string($0.rawValue) })],
        ],
        "required": ["button", "index", "presenter"],
    ]
}
