internal import BridgeJSON
internal import WebKitViews

/// What a page asks its user: the options of the task Alert.
struct PanelQuestion: Sendable, Hashable {
    /// What is shown where a page wants to be asked before it is left.
    private static let leaving = "Leave this page? What was entered may be lost."
    /// What a dialog may hold: a fraction of the longest message.
    private static let maximumBytes = 64 << 10

    /// `alert`, `confirm` or `prompt`.
    var kind: String
    /// What the page says.
    var message: String
    /// What a prompt begins with.
    var defaultText: String?
    /// Whose question it is.
    var origin: String?

    /// The options of the task Alert. The title says who asks.
    var options: JSON {
        var options: JSONObject = ["kind": .string(kind), "content": .string(message)]
        options["title"] = origin.map { .string($0) }
        options["defaultText"] = defaultText.map { .string($0) }
        return .object(options)
    }

    init(kind: String, message: String, origin: String?, defaultText: String? = nil) {
        self.kind = kind
        self.message = String(decoding: message.utf8.prefix(Self.maximumBytes), as: UTF8.self)
        self.defaultText = defaultText.map { String(decoding: $0.utf8.prefix(Self.maximumBytes), as: UTF8.self) }
        self.origin = origin
    }

    /// What a dialog asks.
    @MainActor
    init(_ dialog: borrowing ScriptDialog, origin: String?) {
        let isLeaving = dialog.kind == .leave
        self.init(
            kind: isLeaving ? "confirm" : dialog.kind.rawValue, message: isLeaving ? Self.leaving : dialog.message,
            origin: origin, defaultText: dialog.defaultText)
    }
}

/// What the user said.
enum PanelAnswer: Sendable, Hashable {
    /// Agreed, with what was written.
    case accepted(text: String?)
    /// Did not.
    case declined

    /// What a result of the task Alert says: of `OK` and `Cancel`, the first agrees.
    init(_ result: JSON?) {
        self = result?["index"]?.int64Value == 0 ? .accepted(text: result?["text"]?.stringValue) : .declined
    }
}
