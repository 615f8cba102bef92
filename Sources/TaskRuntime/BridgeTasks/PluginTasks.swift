import BridgeJSON

/// What becomes of a plugin while the daemon serves.
public enum PluginChange: Sendable, Equatable {
    /// The plugin of a file is loaded and started.
    case load(path: String)
    /// A plugin finishes, and its tasks are gone.
    case unload(name: String)
    /// What a plugin's files say now takes its place.
    case reload(name: String)
}

// bridge.plugin.load, unload, reload: plugins come and go while the daemon serves. Who loads them says how.
extension TaskRuntime {
    var pluginTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task("bridge.plugin.load", "Loads the plugin of a file and starts it.", Placed.self) {
                [unowned self] call, options throws(BridgeError) in
                guard options.path.hasPrefix("/") else {
                    throw BridgeError(
                        JSONMismatch(
                            path: "$.path", expected: "a path from the root on",
                            got: "\"\(options.path.prefix(256))\""))
                }
                return try change(.load(path: options.path), call)
            },
            BridgeTasks.Task(
                "bridge.plugin.unload", "Has a plugin finish, and takes its tasks away.", Named.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                try check(options.name)
                return try change(.unload(name: options.name), call)
            },
            BridgeTasks.Task(
                "bridge.plugin.reload", "Puts what a plugin's files say now in its place.", Named.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                try check(options.name)
                return try change(.reload(name: options.name), call)
            },
        ]
    }

    private struct Named: Decodable {
        var name: String
    }

    private struct Placed: Decodable {
        var path: String
    }

    private func check(_ name: String) throws(BridgeError) {
        guard !plugins.contains(where: { $0.name == name }) else { return }
        let names = plugins.map(\.name).joined(separator: ", ")
        throw BridgeError(
            JSONMismatch(path: "$.name", expected: "a plugin: \(names)", got: "\"\(name.prefix(64))\""))
    }

    private func change(_ change: PluginChange, _ call: Call) throws(BridgeError) -> JSON? {
        guard let onPluginChange else { throw BridgeError(.internal, "this daemon's plugins are what they are") }
        onPluginChange(change, call.handle)
        return nil
    }
}
