import BridgeJSON

/// Counts the calls of a task, or of a plugin's tasks, that have a quota. Loop thread only.
final class CallMeter {
    let quota: CallQuota
    let pace: CallPace?
    /// The owner of the calls, for messages: `task Echo`.
    let label: String
    var rate = CallRate()

    init(_ quota: CallQuota, label: String) {
        self.quota = quota
        self.label = label
        pace = CallPace(quota)
    }
}

/// The meters of tasks and plugins, by their names.
struct CallMeters {
    private var tasks: [ExactText: CallMeter] = [:]
    private var plugins: [ExactText: CallMeter] = [:]

    init() {}

    init(_ limits: QuotaLimits) {
        for (name, quota) in limits.tasks { tasks[ExactText(name)] = CallMeter(quota, label: "task \(name)") }
        for (name, quota) in limits.plugins { plugins[ExactText(name)] = CallMeter(quota, label: "plugin \(name)") }
    }

    /// Returns the meters that count a call of a task; `nil` if there are none.
    func those(of task: TaskEntry) -> TaskMeters? {
        if tasks.isEmpty, plugins.isEmpty { return nil }
        let own = tasks[ExactText(task.name)]
        let plugin = task.provider.queue.flatMap { plugins[ExactText($0.name)] }
        return own == nil && plugin == nil ? nil : TaskMeters(task: own, plugin: plugin)
    }
}

/// The meters that count a call of a task.
struct TaskMeters {
    var task: CallMeter?
    var plugin: CallMeter?
}
