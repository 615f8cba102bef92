/// All interceptors, in the order in which they were registered. Loop thread only.
struct InterceptorRegistry {
    /// All interceptors, the newest last.
    private(set) var all: [Interceptor] = []

    /// Returns the interceptors of a task, in the order in which they are asked; `nil` if there are none, so that a
    /// call needs a single check.
    func those(of task: TaskEntry) -> [Interceptor]? {
        let found = all.reversed().filter { $0.matches(task) }
        return found.isEmpty ? nil : found
    }

    mutating func join(_ new: [Interceptor]) { all += new }

    mutating func leave(_ plugin: any QueueingProvider) { all.removeAll { $0.plugin === plugin } }

    /// Replaces the interceptors of a plugin. The new ones take the same position in the order.
    mutating func replace(_ plugin: any QueueingProvider, by new: [Interceptor]) {
        let index = all.firstIndex { $0.plugin === plugin } ?? all.endIndex
        leave(plugin)
        all.insert(contentsOf: new, at: index)
    }
}
