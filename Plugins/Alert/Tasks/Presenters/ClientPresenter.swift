import TaskKit

/// Shows the alert through a client that registered `ui.alert`: a web container, a terminal or a desktop. The daemon
/// chooses the client by the caller's uid and the policy.
struct ClientPresenter: Presenter {
    func present(_ request: AlertRequest, for call: Call) async throws(BridgeError) -> AlertChoice {
        // This presenter may use the whole time: the later presenters need none.
        let answer: AlertChoice.Answer = try await call.call(
            "ui.alert", request.options, timeout: request.timeout.map { .after($0) } ?? .unlimited)
        do throws(JSONMismatch) {
            return try AlertChoice(answer: answer, to: request)
        } catch {
            throw BridgeError(.replyInvalid, "the answer of ui.alert does not fit the alert: \(error)")
        }
    }
}
