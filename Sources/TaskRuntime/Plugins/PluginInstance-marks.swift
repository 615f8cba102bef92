// What stands between calls and a plugin's tasks, as the plugin learns it.
extension PluginInstance {
    /// Informs the host where something else than before stands between calls and the plugin's tasks.
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
