/// A task that can be called: its description, who does the work, and what happened so far.
final class TaskEntry {
    let description: TaskDescription
    /// Its place among its provider's tasks.
    let index: Int
    let provider: any TaskProvider
    /// Only plugins and the daemon itself may call it.
    let isInternal: Bool
    var statistics = TaskStatistics()
    /// Of the calls in flight, those whose work has begun and not ended; where the caller has been answered already,
    /// they still count.
    var runningCount = 0

    var name: String { description.name }

    init(_ description: TaskDescription, index: Int, provider: any TaskProvider, isInternal: Bool = false) {
        self.description = description
        self.index = index
        self.provider = provider
        self.isInternal = isInternal
    }
}
