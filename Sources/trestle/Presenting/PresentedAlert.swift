import BridgeJSON

/// An alert to show: the options of `ui.alert`, and its answer.
struct PresentedAlert: Sendable {
    /// The kind of question for the user.
    enum Kind: String, Decodable, CaseIterable { case alert, confirm, prompt }

    let title: String?
    let content: String
    let kind: Kind
    /// The labels of the buttons, at least one.
    let buttons: [String]
    /// Whether the buttons are `OK` and `Cancel` because the caller named none. The meaning of the second is then
    /// known.
    let hasStandardChoice: Bool
    let defaultText: String

    /// Parses the options of `ui.alert` by the rules of `Alert`: `buttons`, else only `btn`, else `OK`, and also
    /// `Cancel` if there is a choice.
    init(_ json: JSON) throws(BridgeError) {
        struct Options: Decodable {
            var title: String?
            var content: String
            var btn: String?
            var buttons: [String]?
            var kind: Kind?
            var defaultText: String?
        }
        let options: Options
        do throws(JSONMismatch) {
            options = try JSONCoding.decode(Options.self, from: json)
        } catch {
            throw BridgeError(error)
        }
        title = options.title
        content = options.content
        kind = options.kind ?? .alert
        defaultText = options.defaultText ?? ""
        let named = options.buttons.flatMap { $0.isEmpty ? nil : $0 } ?? options.btn.map { [$0] }
        buttons = named ?? (kind == .alert ? ["OK"] : ["OK", "Cancel"])
        hasStandardChoice = named == nil && kind != .alert
    }

    /// Returns the result of `ui.alert`.
    func result(button: Int, text: String?) -> JSON {
        var result: JSONObject = ["button": .string(buttons[button]), "index": .number(JSONNumber(button))]
        result["text"] = text.map(JSON.string)
        return .object(result)
    }
}
