import BridgeJSON

// bridge.plugin.reload: a plugin begins anew while the daemon serves.
extension TaskRuntime {
    var pluginTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.plugin.reload", "Starts a plugin's process anew, with what its files say now.", Named.self
            ) {
                [unowned self] call, options throws(BridgeError) in try reloadPlugin(call, options)
            }
        ]
    }

    private struct Named: Decodable {
        var name: String
    }

    private func reloadPlugin(_ call: Call, _ options: Named) throws(BridgeError) -> JSON? {
        if let caller = call.session, case .denied(let rule) = policy.reload(by: caller) {
            throw BridgeError(
                .permissionDenied, "uid \(caller.peer.uid) may not have a plugin started anew",
                data: ["rule": .string(rule)])
        }
        guard let plugin = plugins.first(where: { $0.name == options.name }) else {
            let names = plugins.map(\.name).joined(separator: ", ")
            throw BridgeError(
                JSONMismatch(path: "$.name", expected: "a plugin: \(names)", got: "\"\(options.name.prefix(64))\""))
        }
        let handle = call.handle
        plugin.host.reload { [unowned self] outcome in
            guard let call = calls.call(handle) else { return }
            switch outcome {
            case .success(let result): result.bytes.withUnsafeBytes { end(call, result: $0) }
            case .failure(let error): end(call, error: error)
            }
        }
        return nil
    }
}
