import TaskKit

/// A way to show an alert.
protocol Presenter: Sendable {
    /// Shows the alert and waits for the answer. If the call is cancelled, the alert is removed.
    ///
    /// - Throws: The reason why the alert was not shown or not answered. The next presenter is asked then.
    func present(_ request: AlertRequest, for call: Call) async throws(BridgeError) -> AlertChoice
}
