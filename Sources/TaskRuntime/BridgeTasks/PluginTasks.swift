import BridgeJSON

/// A change of the plugins while the daemon runs.
public enum PluginChange: Sendable, Equatable {
    /// Loads and starts the plugin in a file.
    case load(path: String)
    /// Lets a plugin finish and removes its tasks. A plugin that was refused is removed from the list.
    case unload(name: String)
    /// Replaces a plugin with the current state of its files, or with the plugin in another file. A plugin that was
    /// refused is loaded.
    case reload(name: String, path: String?)
}

// bridge.plugin.load, unload, reload: changes of the plugins while the daemon runs. `onPluginChange` carries them out.
extension TaskRuntime {
    var pluginTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task("bridge.plugin.load", "Loads the plugin of a file and starts it.", Located.self) {
                [unowned self] call, options throws(BridgeError) in
                try check(path: options.path)
                return try change(.load(path: options.path), call)
            },
            BridgeTasks.Task(
                "bridge.plugin.unload", "Stops a plugin and removes its tasks.", Named.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                try check(options.name)
                return try change(.unload(name: options.name), call)
            },
            BridgeTasks.Task(
                "bridge.plugin.reload", "Replaces a plugin by the current version of its files.", Replaced.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                try check(options.name)
                if let path = options.path { try check(path: path) }
                return try change(.reload(name: options.name, path: options.path), call)
            },
        ]
    }

    private struct Named: Decodable {
        var name: String
    }

    private struct Located: Decodable {
        var path: String
    }

    private struct Replaced: Decodable {
        var name: String
        var path: String?
    }

    private func check(path: String) throws(BridgeError) {
        guard !path.hasPrefix("/") else { return }
        throw BridgeError(
            JSONMismatch(path: "$.path", expected: "an absolute path", got: "\"\(path.prefix(256))\""))
    }

    private func check(_ name: String) throws(BridgeError) {
        let names = directory.all.map(\.name) + refusedPlugins.map(\.name)
        guard !names.contains(name) else { return }
        let question = Suggestion.question(for: name, among: names)
        throw BridgeError(
            .optionsInvalid,
            "there is no plugin \(name.prefix(64))"
                + (question.isEmpty ? "; bridge.plugins lists the plugins" : question),
            data: [
                "path": "$.name", "expected": .string("a plugin: \(names.joined(separator: ", "))"),
                "got": .string("\"\(name.prefix(64))\""),
            ])
    }

    private func change(_ change: PluginChange, _ call: Call) throws(BridgeError) -> JSON? {
        guard let onPluginChange else { throw BridgeError(.internal, "this daemon cannot change its plugins") }
        onPluginChange(change, call.handle)
        return nil
    }
}
