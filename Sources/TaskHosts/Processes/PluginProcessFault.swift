import BridgeJSON
import TaskRuntime
import EventLoop

/// The reason for the unexpected end of a plugin's process.
struct PluginProcessFault: Sendable {
    /// The exit status; `nil` if the process could not be started.
    var status: ExitStatus?
    /// The action for which it was killed; `nil` if it ended by itself.
    var reason: String?

    /// The end of a sentence that begins with the plugin's name.
    var description: String {
        switch (reason, status) {
        case (let reason?, _): reason
        case (nil, .exited(let code)?): "ended with exit status \(code)"
        case (nil, .signalled(let signal)?): "was ended by signal \(signal)"
        case (nil, nil): "could not be started"
        }
    }

    /// Returns the error that its calls end with.
    ///
    /// - Parameter restart: The time until it is started again; `nil` if it is not.
    func error(of plugin: String, restart: Duration?) -> BridgeError {
        var data: JSONObject = ["started": true]
        switch status {
        case .exited(let code)? where reason == nil: data["exit"] = .number(JSONNumber(Int(code)))
        case .signalled(let signal)? where reason == nil: data["signal"] = .number(JSONNumber(Int(signal)))
        default: break
        }
        data["reason"] = reason.map { .string($0) }
        data["restartInMs"] = restart.map { .number(JSONNumber($0.wholeMilliseconds)) }
        return BridgeError(
            .pluginCrashed, "the process of the plugin \(plugin) \(description)", data: .object(data),
            isTransient: restart != nil, retryAfter: restart)
    }
}
