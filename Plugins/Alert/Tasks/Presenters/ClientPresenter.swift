import TaskKit

/// Has a client show the alert: a web container, or a person's terminal or desktop, that registered `ui.alert`. The
/// daemon chooses which, by the caller's uid and the policy.
struct ClientPresenter: Presenter {
    func present(_ request: AlertRequest, for call: Call) async throws(BridgeError) -> AlertChoice {
        // The whole time is this presenter's: what comes after it needs none.
        let answer: AlertChoice.Answer = try await call.call(
            "ui.alert", request.options, timeout: request.timeout.map { .after($0) } ?? .unlimited)
        do throws(JSONMismatch) {
            return try AlertChoice(answer: answer, to: request)
        } catch {
            throw BridgeError(.replyInvalid, "the answer of ui.alert does not fit the alert: \(error)")
        }
    }
}
