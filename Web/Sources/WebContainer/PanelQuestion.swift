internal import BridgeJSON
internal import WebKitViews

/// A question of a page to its user: the options of the task Alert.
struct PanelQuestion: Sendable, Hashable {
    /// The text that is shown if a page wants a confirmation before it is left.
    private static let leaving = "Leave this page? What was entered may be lost."
    /// The maximum length of a dialog's text: a fraction of the maximum message length.
    private static let maximumBytes = 64 << 10

    /// `alert`, `confirm` or `prompt`.
    var kind: String
    /// The page's message.
    var message: String
    /// The initial text of a prompt; `nil` for none.
    var defaultText: String?
    /// The origin that asks; `nil` for none.
    var origin: String?

    /// The options of the task Alert. The title names the origin that asks.
    var options: JSON {
        var options: JSONObject = ["kind": .string(kind), "content": .string(message)]
        options["title"] = origin.map { .string($0) }
        options["defaultText"] = defaultText.map { .string($0) }
        return .object(options)
    }

    init(kind: String, message: String, origin: String?, defaultText: String? = nil) {
        self.kind = kind
        self.message = message.cut(toBytes: Self.maximumBytes)
        self.defaultText = defaultText?.cut(toBytes: Self.maximumBytes)
        self.origin = origin
    }

    /// Creates the question of a dialog.
    @MainActor
    init(_ dialog: borrowing ScriptDialog, origin: String?) {
        let isLeaving = dialog.kind == .leave
        self.init(
            kind: isLeaving ? "confirm" : dialog.kind.rawValue, message: isLeaving ? Self.leaving : dialog.message,
            origin: origin, defaultText: dialog.defaultText)
    }
}

/// The user's answer.
enum PanelAnswer: Sendable, Hashable {
    /// The user agreed, with the entered text.
    case accepted(text: String?)
    /// The user declined.
    case declined

    /// Reads a result of the task Alert: of `OK` and `Cancel`, the first agrees.
    init(_ result: JSON?) {
        self = result?["index"]?.int64Value == 0 ? .accepted(text: result?["text"]?.stringValue) : .declined
    }
}
