import BridgeJSON

/// What a notification service can do: its answer to `GetCapabilities`.
struct NotificationCapabilities: Sendable, Hashable {
    /// It shows buttons, and reports which was pressed.
    var actions = false
    /// It shows more than the summary.
    var body = false
    /// It takes the body for markup.
    var bodyMarkup = false
    /// It lets a line be written, as KDE's does.
    var inlineReply = false

    init(_ names: [String]) {
        actions = names.contains("actions")
        body = names.contains("body")
        bodyMarkup = names.contains("body-markup")
        inlineReply = names.contains("inline-reply")
    }
}

/// An alert as a desktop shows it: what goes into `Notify`, and what the service's signals mean. No bus of its own.
struct DesktopNotification: Sendable {
    /// What a service says of a notification.
    enum Event: Sendable, Hashable {
        /// `ActionInvoked`, with the action's key.
        case action(String)
        /// `NotificationReplied`, with what was written.
        case replied(String)
        /// `NotificationClosed`, with its reason: 1 expired, 2 dismissed, 3 closed by a call, 4 another.
        case closed(UInt32)
    }

    /// The action that has a line of text written, by the name that KDE gave it.
    static let replyAction = "inline-reply"

    let alert: PresentedAlert
    let summary: String
    let body: String
    let icon: String
    /// Key and label of each action, one after the other.
    let actions: [String]
    /// Whether it is shown through "do not disturb": a caller waits for a decision.
    let isUrgent: Bool
    /// What stands in the field of a prompt as long as nothing is written; nil: there is no field.
    let placeholder: String?

    /// - Throws: `presenter.unsupported`, where the service cannot show the alert so that it can be answered.
    init(_ alert: PresentedAlert, _ capabilities: NotificationCapabilities) throws(BridgeError) {
        if alert.kind == .prompt, !capabilities.inlineReply {
            throw BridgeError(
                "presenter.unsupported", "the desktop's notifications have no place to write an answer in")
        }
        if alert.buttons.count > 1, !capabilities.actions {
            throw BridgeError("presenter.unsupported", "the desktop's notifications have no buttons to choose between")
        }
        self.alert = alert
        (summary, body) = Self.texts(alert, capabilities)
        isUrgent = alert.kind != .alert || alert.buttons.count > 1
        icon = isUrgent ? "dialog-question" : "dialog-information"
        placeholder = alert.kind == .prompt ? PlainText.line(alert.defaultText) : nil
        // Without actions the one button is pressed by dismissing.
        actions =
            capabilities.actions
            ? alert.buttons.enumerated().flatMap { index, label in
                [Self.key(index, of: alert), PlainText.line(label)]
            } : []
    }

    /// A summary is plain text everywhere; it must not be empty.
    private static func texts(
        _ alert: PresentedAlert, _ capabilities: NotificationCapabilities
    ) -> (summary: String, body: String) {
        let title = alert.title.flatMap { $0.isEmpty ? nil : PlainText.line($0) }
        guard capabilities.body else {
            let content = PlainText.line(alert.content)
            return (title.map { "\($0): \(content)" } ?? content, "")
        }
        let content = PlainText.lines(alert.content).joined(separator: "\n")
        return (title ?? "Trestle", capabilities.bodyMarkup ? escaped(content) : content)
    }

    /// Text as markup that shows it.
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }

    /// A prompt's first button is the one that sends what was written.
    private static func key(_ index: Int, of alert: PresentedAlert) -> String {
        alert.kind == .prompt && index == 0 ? replyAction : String(index)
    }

    // MARK: The answer

    /// What an event makes of the alert: its answer, or `alert.dismissed` where there will be none; nil where it goes
    /// on.
    func outcome(of event: Event) -> Result<JSON, BridgeError>? {
        switch event {
        case .replied(let text):
            guard alert.kind == .prompt else { return nil }
            return answer(0, text: text.isEmpty ? alert.defaultText : text)
        case .action(let key):
            if let index = alert.buttons.indices.first(where: { Self.key($0, of: alert) == key }) {
                // The text comes by itself, as a reply.
                return key == Self.replyAction ? nil : answer(index)
            }
            // Some services have a key of their own for a click beside the buttons.
            return alert.buttons.count == 1 && alert.kind != .prompt ? answer(0) : nil
        case .closed(2): return dismissed
        case .closed(1): return .failure(.dismissed("the notification expired before anybody answered"))
        case .closed: return .failure(.dismissed("the desktop took the notification away before anybody answered"))
        }
    }

    /// Dismissing is an answer where it can only mean one: the only button, or the Cancel that goes with OK.
    private var dismissed: Result<JSON, BridgeError> {
        if alert.hasStandardChoice { return answer(1) }
        if alert.buttons.count == 1, alert.kind != .prompt { return answer(0) }
        return .failure(.dismissed("the notification was dismissed without an answer"))
    }

    private func answer(_ index: Int, text: String? = nil) -> Result<JSON, BridgeError> {
        // A field that was left alone holds its default.
        .success(alert.result(button: index, text: alert.kind == .prompt ? text ?? alert.defaultText : nil))
    }
}

extension BridgeError {
    fileprivate static func dismissed(_ sentence: String) -> BridgeError { BridgeError("alert.dismissed", sentence) }
}
