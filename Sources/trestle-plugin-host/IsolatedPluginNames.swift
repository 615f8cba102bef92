import Synchronization

/// Names the code of the plugin that holds the loop. Any thread.
final class IsolatedPluginNames: Sendable {
    private struct Known {
        var tasks: [String] = []
        var running: @Sendable () -> [Int] = { [] }
    }

    /// The maximum number of tasks that are named if it may be any of them.
    private static let maximum = 3
    private let known = Mutex(Known())

    func note(_ tasks: [String], running: @escaping @Sendable () -> [Int]) {
        known.withLock { $0 = Known(tasks: tasks, running: running) }
    }

    /// Returns the name of the running code.
    ///
    /// - Parameter task: The number of the running task; `nil` for a task that continues after a wait, or for other
    ///   work of the plugin.
    func name(_ task: Int?) -> String {
        let known = known.withLock { $0 }
        let tasks = (task.map { [$0] } ?? known.running()).filter(known.tasks.indices.contains)
        guard !tasks.isEmpty, tasks.count <= Self.maximum else { return "the plugin" }
        return tasks.map { known.tasks[$0] }.joined(separator: " or ")
    }
}
