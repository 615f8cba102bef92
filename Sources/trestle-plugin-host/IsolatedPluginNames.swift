import Synchronization

/// Names the code of the plugin that holds the loop. Any thread.
final class IsolatedPluginNames: Sendable {
    private struct Known {
        var tasks: [String] = []
        var running: @Sendable () -> [Int] = { [] }
    }

    /// As many tasks are named where it may be any of them.
    private static let maximum = 3
    private let known = Mutex(Known())

    func note(_ tasks: [String], running: @escaping @Sendable () -> [Int]) {
        known.withLock { $0 = Known(tasks: tasks, running: running) }
    }

    /// - Parameter task: the number of the task that runs; nil: what a task does after it has waited, or what the
    ///   plugin does by itself.
    func name(_ task: Int?) -> String {
        let known = known.withLock { $0 }
        let tasks = (task.map { [$0] } ?? known.running()).filter(known.tasks.indices.contains)
        guard !tasks.isEmpty, tasks.count <= Self.maximum else { return "the plugin" }
        return tasks.map { known.tasks[$0] }.joined(separator: " or ")
    }
}
