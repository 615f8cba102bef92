import TaskKit

/// Writes the alert to the daemon's log and returns the first button as the answer. It never fails and never waits.
struct LogPresenter: Presenter {
    func present(_ request: AlertRequest, for call: Call) async throws(BridgeError) -> AlertChoice {
        let choice = AlertChoice(index: 0, text: request.kind == .prompt ? request.defaultText ?? "" : nil)
        // Quoted as JSON: a line break in a text must not look like another line of the log.
        let texts = [request.title, request.content].compactMap { $0 }.map { JSON.string($0).text }
        call.log.notice(
            "Alert of session \(call.caller.session), uid \(call.caller.uid): \(texts.joined(separator: ": ")); "
                + "answered \(JSON.string(request.buttons[choice.index]).text)")
        return choice
    }
}
