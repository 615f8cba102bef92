import BridgeJSON

/// The capabilities of a notification service: its answer to `GetCapabilities`.
struct NotificationCapabilities: Sendable, Hashable {
    /// Whether it shows buttons and reports the pressed one.
    var actions = false
    /// Whether it shows more than the summary.
    var body = false
    /// Whether it parses the body as markup.
    var bodyMarkup = false
    /// Whether the user can write a line of text, as in KDE.
    var inlineReply = false

    init(_ names: [String]) {
        actions = names.contains("actions")
        body = names.contains("body")
        bodyMarkup = names.contains("body-markup")
        inlineReply = names.contains("inline-reply")
    }
}

/// An alert for a desktop: the arguments of `Notify`, and the meaning of the service's signals. Does not use the bus.
struct DesktopNotification: Sendable {
    /// A signal of the service about a notification.
    enum Event: Sendable, Hashable {
        /// `ActionInvoked`, with the action's key.
        case action(String)
        /// `NotificationReplied`, with the written text.
        case replied(String)
        /// `NotificationClosed`, with its reason: 1 expired, 2 dismissed, 3 closed by a call, 4 undefined.
        case closed(UInt32)
    }

    /// The action for writing a line of text, by KDE's name.
    static let replyAction = "inline-reply"

    let alert: PresentedAlert
    let summary: String
    let body: String
    let icon: String
    /// The key and the label of each action, alternating.
    let actions: [String]
    /// Whether it is shown despite "do not disturb", because a caller waits for a decision.
    let isUrgent: Bool
    /// The placeholder in the empty text field of a prompt; `nil` if there is no field.
    let placeholder: String?

    /// - Throws: `presenter.unsupported` if the service cannot show the alert in a way that the user can answer.
    init(_ alert: PresentedAlert, _ capabilities: NotificationCapabilities) throws(BridgeError) {
        if alert.kind == .prompt, !capabilities.inlineReply {
            throw BridgeError(
                "presenter.unsupported", "the desktop's notifications do not support text input")
        }
        if alert.buttons.count > 1, !capabilities.actions {
            throw BridgeError("presenter.unsupported", "the desktop's notifications have no buttons to choose between")
        }
        self.alert = alert
        (summary, body) = Self.texts(alert, capabilities)
        isUrgent = alert.kind != .alert || alert.buttons.count > 1
        icon = isUrgent ? "dialog-question" : "dialog-information"
        placeholder = alert.kind == .prompt ? PlainText.line(alert.defaultText) : nil
        // Without actions, dismissing represents the only button.
        actions =
            capabilities.actions
            ? alert.buttons.enumerated().flatMap { index, label in
                [Self.key(index, of: alert), PlainText.line(label)]
            } : []
    }

    /// Returns summary and body. A summary is always plain text and must not be empty.
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

    /// Escapes text for markup.
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

    /// Returns the key of a button. The first button of a prompt sends the written text.
    private static func key(_ index: Int, of alert: PresentedAlert) -> String {
        alert.kind == .prompt && index == 0 ? replyAction : String(index)
    }

    // MARK: The answer

    /// Returns the effect of an event on the alert: its answer, or `alert.dismissed` if no answer is possible; `nil` if
    /// the alert remains open.
    func outcome(of event: Event) -> Result<JSON, BridgeError>? {
        switch event {
        case .replied(let text):
            guard alert.kind == .prompt else { return nil }
            return answer(0, text: text.isEmpty ? alert.defaultText : text)
        case .action(let key):
            if let index = alert.buttons.indices.first(where: { Self.key($0, of: alert) == key }) {
                // The text arrives separately, as a reply.
                return key == Self.replyAction ? nil : answer(index)
            }
            // Some services have a separate key for a click outside the buttons.
            return alert.buttons.count == 1 && alert.kind != .prompt ? answer(0) : nil
        case .closed(2): return dismissed
        case .closed(1): return .failure(.dismissed("the notification expired before anybody answered"))
        case .closed: return .failure(.dismissed("the desktop closed the notification before it was answered"))
        }
    }

    /// The result of dismissing. It is an answer only if its meaning is clear: the only button, or Cancel beside OK.
    private var dismissed: Result<JSON, BridgeError> {
        if alert.hasStandardChoice { return answer(1) }
        if alert.buttons.count == 1, alert.kind != .prompt { return answer(0) }
        return .failure(.dismissed("the notification was dismissed without an answer"))
    }

    private func answer(_ index: Int, text: String? = nil) -> Result<JSON, BridgeError> {
        // An unchanged field contains its default.
        .success(alert.result(button: index, text: alert.kind == .prompt ? text ?? alert.defaultText : nil))
    }
}

extension BridgeError {
    fileprivate static func dismissed(_ sentence: String) -> BridgeError { BridgeError("alert.dismissed", sentence) }
}
