import BridgeJSON

// bridge.reload: reads the configuration again while the daemon runs.
extension TaskRuntime {
    var configurationTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task("bridge.reload", "Reads the configuration again and applies it.") {
                [unowned self] call throws(BridgeError) in
                try reload(call)
            }
        ]
    }

    private func reload(_ call: Call) throws(BridgeError) -> JSON? {
        guard let onReload else { throw BridgeError(.internal, "this daemon has no configuration to read") }
        onReload(call.handle)
        return nil
    }
}
