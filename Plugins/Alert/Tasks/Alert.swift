// Alert: shows a message to a person and returns the answer. The daemon has no screen. The task asks the presenters in
// the configured order until one of them shows the alert (Presenters/).
public import TaskKit

extension Plugin {
    /// Creates the plugin with the task `Alert`.
    public static func alert() -> Plugin {
        let order = PresenterOrder()
        return Plugin("alert", version: "1.0.0") { AlertTask(order: order) }
            .configuration(
                PluginConfiguration(AlertConfiguration()), describing: AlertConfiguration.settings, reloadable: true,
                check: { try $0.check() }, onChange: { order.apply($0) })
    }
}

/// `Alert`: returns the options, the chosen button and the presenter that showed the alert.
struct AlertTask: BridgeTask {
    static let name = "Alert"
    static let summary = "Shows a message, a question or a prompt to a person and returns the choice."
    /// No time limit, because a person answers: only the option `timeout` limits the wait.
    static let settings = TaskSettings(isPublic: true, timeout: .unlimited)
    static let optionsSchema: JSON? = AlertRequest.schema
    static let resultSchema: JSON? = AlertChoice.schema

    let order: PresenterOrder

    func run(_ request: AlertRequest, _ call: Call) async throws -> JSON {
        var failures: [(presenter: PresenterName, error: BridgeError)] = []
        for name in order.presenters {
            do throws(BridgeError) {
                let choice = try await name.presenter.present(request, for: call)
                return choice.result(of: request, by: name)
            } catch {
                // The caller has withdrawn the alert: no other presenter may show it.
                if call.isCancelled { throw CancellationError() }
                note(error, of: name, call.log)
                failures.append((name, error))
            }
        }
        throw unpresented(failures)
    }

    private func note(_ error: BridgeError, of name: PresenterName, _ log: PluginLog) {
        let line = "the presenter \(name) did not show the alert: \(error)"
        switch error.code {
        // No client has registered as a presenter. This is usual without a desktop.
        case .taskNotFound: log.debug(line)
        case .replyInvalid, .resultInvalid: log.warning(line)
        default: log.notice(line)
        }
    }

    /// Returns the error if no presenter showed the alert: `presenter.unavailable`, with the reason of each presenter.
    private func unpresented(_ failures: [(presenter: PresenterName, error: BridgeError)]) -> BridgeError {
        let reasons = failures.map { "\($0.presenter): \($0.error)" }.joined(separator: "; ")
        let data = failures.map { failure -> JSON in
            [
                "presenter": .string(failure.presenter.rawValue), "code": .string(failure.error.code.rawValue),
                "message": .string(failure.error.message),
            ]
        }
        return BridgeError(
            "presenter.unavailable", "no presenter showed the alert: \(reasons)", data: ["presenters": .array(data)],
            isTransient: true)
    }
}
