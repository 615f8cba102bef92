// Alert: shows something to a person and returns what was answered. The daemon has no screen; so the task asks the
// presenters that the configuration names, one after the other, until one of them was able to (Presenters/).
public import TaskKit

extension Plugin {
    /// The plugin whose one task is `Alert`.
    public static func alert() -> Plugin {
        let order = PresenterOrder()
        return Plugin("alert", version: "1.0.0") { AlertTask(order: order) }
            .configuration(
                PluginConfiguration(AlertConfiguration()), describing: AlertConfiguration.settings, reloadable: true,
                check: { try $0.check() }, onChange: { order.apply($0) })
    }
}

/// `Alert`: the options, and which button was chosen, by way of which presenter.
struct AlertTask: BridgeTask {
    static let name = "Alert"
    static let summary = "Shows a message, a question or a prompt to a person and returns the choice."
    /// A person takes the time that a person takes: only the option `timeout` bounds it.
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
                // Who withdraws the alert wants it gone, not shown by another presenter.
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
        // No client has registered as one: usual where there is no desktop.
        case .taskNotFound: log.debug(line)
        case .replyInvalid, .resultInvalid: log.warning(line)
        default: log.notice(line)
        }
    }

    /// The error where no presenter was able to: `presenter.unavailable`, with each one's reason.
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
