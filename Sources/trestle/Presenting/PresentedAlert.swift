import BridgeJSON

/// An alert that this program is to show: the options of `ui.alert`, and its answer.
struct PresentedAlert: Sendable {
    /// What is asked of the person.
    enum Kind: String, Decodable, CaseIterable { case alert, confirm, prompt }

    let title: String?
    let content: String
    let kind: Kind
    /// At least one.
    let buttons: [String]
    /// Whether the buttons are `OK` and `Cancel`, because the caller named none: then it is known what the second
    /// means.
    let hasStandardChoice: Bool
    let defaultText: String

    /// Reads the options of `ui.alert`, by the rules of `Alert`: `buttons`, else `btn` alone, else `OK`, and `Cancel`
    /// where there is something to choose.
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

    /// The result of `ui.alert`.
    func result(button: Int, text: String?) -> JSON {
        var result: JSONObject = ["button": .string(buttons[button]), "index": .number(JSONNumber(button))]
        result["text"] = text.map(JSON.string)
        return .object(result)
    }
}
