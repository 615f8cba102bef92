import BridgeJSON

// Whose interceptors are asked, and about which tasks.
extension PluginDirectory {
    /// The plugin's interceptors are asked from now on, before those that were there.
    func joinInterceptors(of plugin: PluginInstance) {
        guard !plugin.interceptors.isEmpty else { return }
        changeInterceptors { $0.join(plugin.interceptors) }
    }

    /// The plugin's interceptors are asked from now on, where those of another one were.
    func joinInterceptors(of plugin: PluginInstance, inPlaceOf old: PluginInstance) {
        guard !plugin.interceptors.isEmpty || !old.interceptors.isEmpty else { return }
        changeInterceptors { $0.replace(old, by: plugin.interceptors) }
    }

    private func changeInterceptors(_ change: (inout InterceptorRegistry) -> Void) {
        tasks.changeInterceptors(change)
        updateMarks()
    }

    /// Informs the plugins of what stands between calls and their tasks.
    func updateMarks() { for plugin in all + leaving { plugin.updateMarks() } }

    /// They are no longer asked. Calls that they have in hand fail as their descriptions say.
    func leaveInterceptors(of plugin: PluginInstance) {
        guard !plugin.interceptors.isEmpty else { return }
        changeInterceptors { $0.leave(plugin) }
    }

    /// A plugin says which tasks its interceptors are for, in place of what its manifest said; `answer` is what it
    /// answered when it was started or configured again.
    ///
    /// - Throws: `reply.invalid`, where that makes no sense; nothing has changed then.
    func takeInterceptedTasks(_ answer: JSON, of plugin: PluginInstance) throws(BridgeError) {
        guard let said = answer["interceptors"] else { return }
        func refusal(_ reason: String) -> BridgeError {
            BridgeError(.replyInvalid, "\(plugin.providerName) says what it intercepts, and \(reason)")
        }
        var changes: [(Interceptor, [EventPattern])] = []
        guard let members = said.objectValue else { throw refusal("interceptors is no object") }
        for (name, tasks) in members {
            guard let interceptor = plugin.interceptors.first(where: { $0.name == name }) else {
                throw refusal("has no interceptor \(name)")
            }
            var patterns: [EventPattern] = []
            guard let list = tasks.arrayValue else { throw refusal("the tasks of \(name) are no array") }
            for task in list {
                guard let pattern = task.stringValue.flatMap(EventPattern.init) else {
                    throw refusal("\(name) has \(task.text), which is no name of a task with at most a * at its end")
                }
                patterns.append(pattern)
            }
            changes.append((interceptor, patterns))
        }
        changeInterceptors { _ in for (interceptor, patterns) in changes { interceptor.replace(patterns) } }
    }
}
