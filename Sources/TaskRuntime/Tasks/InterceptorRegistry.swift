/// All interceptors, in the order in which they were registered. Loop thread only.
struct InterceptorRegistry {
    /// The newest last.
    private(set) var all: [Interceptor] = []

    /// Those that calls of the task come to, the first to be asked first; nil where there is none, so that a call has
    /// one thing to look at.
    func those(of task: TaskEntry) -> [Interceptor]? {
        let found = all.reversed().filter { $0.matches(task) }
        return found.isEmpty ? nil : found
    }

    mutating func join(_ new: [Interceptor]) { all += new }

    mutating func leave(_ plugin: any QueueingProvider) { all.removeAll { $0.plugin === plugin } }

    /// The new ones are asked where those of the plugin were, which are no longer asked.
    mutating func replace(_ plugin: any QueueingProvider, by new: [Interceptor]) {
        let index = all.firstIndex { $0.plugin === plugin } ?? all.endIndex
        leave(plugin)
        all.insert(contentsOf: new, at: index)
    }
}
