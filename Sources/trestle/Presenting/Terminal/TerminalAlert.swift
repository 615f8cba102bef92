import BridgeJSON

/// An alert as a terminal shows it: what is printed, and what an answer means. No input or output of its own.
struct TerminalAlert: Sendable {
    let alert: PresentedAlert

    init(_ options: JSON) throws(BridgeError) { alert = try PresentedAlert(options) }

    var buttons: [String] { alert.buttons }
    var isPrompt: Bool { alert.kind == .prompt }

    /// The alert itself.
    func text(bold: (String) -> String) -> String {
        var result = "\n"
        if let title = alert.title, !title.isEmpty { result += bold(PlainText.line(title)) + "\n" }
        for line in PlainText.lines(alert.content) { result += line + "\n" }
        return result
    }

    /// What is asked for the text of a prompt.
    var textQuestion: String {
        alert.defaultText.isEmpty ? "Text: " : "Text [\(PlainText.line(alert.defaultText))]: "
    }

    /// What was written: the default text where nothing was.
    func text(of line: String) -> String { line.isEmpty ? alert.defaultText : line }

    /// What is asked for the button.
    var buttonQuestion: String {
        if buttons.count == 1 { return "[\(PlainText.line(buttons[0]))] " }
        let list = buttons.enumerated().map { "\($0 + 1) \(PlainText.line($1))" }.joined(separator: "   ")
        return "\(list)   [1]: "
    }

    /// Which button was chosen, from 0: by its number, by its label, or the first by an empty line. Nil: none of them.
    func button(of line: String) -> Int? {
        let answer = line.drop { $0 == " " }
        if answer.isEmpty || buttons.count == 1 { return 0 }
        if let number = Int(answer), buttons.indices.contains(number - 1) { return number - 1 }
        return buttons.firstIndex(of: String(answer))
            ?? buttons.firstIndex { $0.lowercased() == answer.lowercased() }
    }

    /// The result of `ui.alert`.
    func result(button: Int, text: String?) -> JSON { alert.result(button: button, text: text) }
}
