import BridgeJSON

// Which plugins' interceptors are asked, and about which tasks.
extension PluginDirectory {
    /// Adds the plugin's interceptors, before the existing ones.
    func joinInterceptors(of plugin: PluginInstance) {
        guard !plugin.interceptors.isEmpty else { return }
        changeInterceptors { $0.join(plugin.interceptors) }
    }

    /// Replaces another plugin's interceptors by the plugin's, in their place.
    func joinInterceptors(of plugin: PluginInstance, inPlaceOf old: PluginInstance) {
        guard !plugin.interceptors.isEmpty || !old.interceptors.isEmpty else { return }
        changeInterceptors { $0.replace(old, by: plugin.interceptors) }
    }

    private func changeInterceptors(_ change: (inout InterceptorRegistry) -> Void) {
        tasks.changeInterceptors(change)
        updateMarks()
    }

    /// Informs the plugins of the checks between calls and their tasks.
    func updateMarks() { for plugin in all + leaving { plugin.updateMarks() } }

    /// Removes the plugin's interceptors. Calls about which they are deciding fail as their descriptions specify.
    func leaveInterceptors(of plugin: PluginInstance) {
        guard !plugin.interceptors.isEmpty else { return }
        changeInterceptors { $0.leave(plugin) }
    }

    /// Reads which tasks a plugin's interceptors are for, which replaces the tasks in its manifest. `answer` is the
    /// plugin's answer when it was started or reconfigured.
    ///
    /// - Throws: `reply.invalid` if that is invalid; then nothing has changed.
    func takeInterceptedTasks(_ answer: JSON, of plugin: PluginInstance) throws(BridgeError) {
        guard let value = answer["interceptors"] else { return }
        func refusal(_ reason: String) -> BridgeError {
            BridgeError(.replyInvalid, "\(plugin.providerName) sent an invalid list of interceptors: \(reason)")
        }
        var changes: [(Interceptor, [EventPattern])] = []
        guard let members = value.objectValue else { throw refusal("interceptors is not an object") }
        for (name, tasks) in members {
            guard let interceptor = plugin.interceptors.first(where: { $0.name == name }) else {
                throw refusal("there is no interceptor \(name)")
            }
            var patterns: [EventPattern] = []
            guard let list = tasks.arrayValue else { throw refusal("the tasks of \(name) are not an array") }
            for task in list {
                guard let pattern = task.stringValue.flatMap(EventPattern.init) else {
                    throw refusal("\(name) has \(task.text), which is not a task name with at most a * at its end")
                }
                patterns.append(pattern)
            }
            changes.append((interceptor, patterns))
        }
        changeInterceptors { _ in for (interceptor, patterns) in changes { interceptor.replace(patterns) } }
    }
}
