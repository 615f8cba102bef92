import BridgeJSON

/// An alert for a terminal: the printed text, and the meaning of an answer. Does no input or output itself.
struct TerminalAlert: Sendable {
    let alert: PresentedAlert

    init(_ options: JSON) throws(BridgeError) { alert = try PresentedAlert(options) }

    var buttons: [String] { alert.buttons }
    var isPrompt: Bool { alert.kind == .prompt }

    /// Returns the text of the alert.
    func text(bold: (String) -> String) -> String {
        var result = "\n"
        if let title = alert.title, !title.isEmpty { result += bold(PlainText.line(title)) + "\n" }
        for line in PlainText.lines(alert.content) { result += line + "\n" }
        return result
    }

    /// The question for the text of a prompt.
    var textQuestion: String {
        alert.defaultText.isEmpty ? "Text: " : "Text [\(PlainText.line(alert.defaultText))]: "
    }

    /// Returns the text of a prompt: the typed line, or the default text for an empty line.
    func text(of line: String) -> String { line.isEmpty ? alert.defaultText : line }

    /// The question for the button.
    var buttonQuestion: String {
        if buttons.count == 1 { return "[\(PlainText.line(buttons[0]))] " }
        let list = buttons.enumerated().map { "\($0 + 1) \(PlainText.line($1))" }.joined(separator: "   ")
        return "\(list)   [1]: "
    }

    /// Returns the index of the chosen button: by its number, by its label, or the first for an empty line; `nil` for
    /// any other line.
    func button(of line: String) -> Int? {
        let answer = line.drop { $0 == " " }
        if answer.isEmpty || buttons.count == 1 { return 0 }
        if let number = Int(answer), buttons.indices.contains(number - 1) { return number - 1 }
        return buttons.firstIndex(of: String(answer))
            ?? buttons.firstIndex { $0.lowercased() == answer.lowercased() }
    }

    /// Returns the result of `ui.alert`.
    func result(button: Int, text: String?) -> JSON { alert.result(button: button, text: text) }
}
