import BridgeJSON
import TaskRuntime
import EventLoop

/// Why a plugin's process has ended unexpectedly.
struct PluginProcessFault: Sendable {
    /// How it ended; nil: it could not be started.
    var status: ExitStatus?
    /// What it did before it was killed for it; nil: it ended by itself.
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

    /// The error that its calls end with.
    ///
    /// - Parameter restart: when it is started again; nil: it is not.
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
