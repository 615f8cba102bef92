import TaskKit

/// A way to show an alert.
protocol Presenter: Sendable {
    /// Shows the alert and waits for the answer. When the call is cancelled, the alert is taken away.
    ///
    /// - Throws: Why it could not be shown, or was not answered: then the next presenter is asked.
    func present(_ request: AlertRequest, for call: Call) async throws(BridgeError) -> AlertChoice
}
