// The checks between calls and a plugin's tasks, as reported to the plugin.
extension PluginInstance {
    /// Informs the host if the checks between calls and the plugin's tasks have changed.
    func updateMarks() {
        let policy = calls.rights.policy
        let now = tasks.map { task -> TaskMarks in
            var marks: TaskMarks = task.interceptors == nil ? [] : .intercepted
            let verbs = task.description.optionPermissions.values
            if verbs.contains(where: { !policy.rules(about: $0).isEmpty }) { marks.insert(.ruled) }
            return marks
        }
        guard now != marks else { return }
        marks = now
        host.noteMarks()
    }
}
