import BridgeClient
import BridgeJSON

/// An alert as a terminal shows it: what is printed, and what an answer means. No input or output of its own.
struct TerminalAlert: Sendable {
    let title: String?
    let content: String
    let buttons: [String]
    let isPrompt: Bool
    let defaultText: String

    /// Reads the options of `ui.alert`, by the rules of `Alert`: `buttons`, else `btn` alone, else `OK`, and `Cancel`
    /// where there is something to choose.
    init(_ call: IncomingCall) throws(BridgeError) {
        struct Options: Decodable {
            enum Kind: String, Decodable, CaseIterable { case alert, confirm, prompt }
            var title: String?
            var content: String
            var btn: String?
            var buttons: [String]?
            var kind: Kind?
            var defaultText: String?
        }
        let options: Options
        do throws(JSONMismatch) {
            options = try JSONCoding.decode(Options.self, from: call.options)
        } catch {
            throw BridgeError(error)
        }
        title = options.title
        content = options.content
        isPrompt = options.kind == .prompt
        defaultText = options.defaultText ?? ""
        if let buttons = options.buttons, !buttons.isEmpty {
            self.buttons = buttons
        } else if let button = options.btn {
            buttons = [button]
        } else {
            buttons = (options.kind ?? .alert) == .alert ? ["OK"] : ["OK", "Cancel"]
        }
    }

    /// The alert itself.
    func text(bold: (String) -> String) -> String {
        var result = "\n"
        if let title, !title.isEmpty { result += bold(PlainText.line(title)) + "\n" }
        for line in PlainText.lines(content) { result += line + "\n" }
        return result
    }

    /// What is asked for the text of a prompt.
    var textQuestion: String {
        defaultText.isEmpty ? "Text: " : "Text [\(PlainText.line(defaultText))]: "
    }

    /// What was written: the default text where nothing was.
    func text(of line: String) -> String { line.isEmpty ? defaultText : line }

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
    func result(button: Int, text: String?) -> JSON {
        var result: JSONObject = ["button": .string(buttons[button]), "index": .number(JSONNumber(button))]
        result["text"] = text.map(JSON.string)
        return .object(result)
    }
}
