import BridgeJSON
import DequeModule

// A plugin's waiting calls: when they continue, and how they move to another plugin.
extension PluginInstance {
    /// Reports that the host may take calls that it did not take before.
    public func roomWasMade() {
        guard !waiting.isEmpty else { return }
        waiting.noteProcess()
        for task in tasks { waiting.noteRoom(of: task) }
        continueWork()
    }

    /// Reports the same for a session's calls alone: it now has a process of its own.
    public func roomWasMade(forCallsOf session: UInt64) {
        guard !waiting.isEmpty else { return }
        waiting.noteProcess(of: session)
        continueWork()
    }

    /// Makes calls wait until ``resume(_:)`` has been called for every reason.
    public func pause(_ reason: PauseReasons) { pauses.insert(reason) }

    /// Removes a reason for waiting.
    public func resume(_ reason: PauseReasons) {
        pauses.remove(reason)
        continueWork()
    }

    /// Moves the waiting calls to another plugin, in their order. They are checked against its tasks when their turn
    /// comes. Calls of tasks that it does not have are removed from the queue. Questions to interceptors stay.
    func handWaiting(to successor: PluginInstance) {
        var next = waiting.first
        while let call = next {
            next = waiting.next(after: call)
            guard let task = call.task, !task.isInterceptor else { continue }
            leaveQueue(of: call)
            if case .task(let next) = task.succession { hand(call, to: successor, next) }
        }
        successor.continueWork()
    }

    /// Returns what happens to a task's waiting calls when another plugin replaces this one.
    func succession(of task: TaskEntry, to successor: PluginInstance) -> TaskSuccession {
        if let next = successor.tasks.first(where: { $0.name == task.name }) { return .task(next) }
        return .none(
            BridgeError(.taskNotFound, "\(providerName) was replaced, and no longer provides the task \(task.name)"))
    }

    private func hand(_ call: Call, to successor: PluginInstance, _ task: TaskEntry) {
        call.move(to: task)
        if call.isAskedAbout(in: self) {
            call.interception?.queue = successor
        } else {
            call.extras.isUnchecked = true
        }
        successor.enqueue(call)
    }

    /// Whether any call of its tasks, or request to it, has not ended.
    var hasCallsInFlight: Bool {
        (tasks + interceptors.map(\.entry) + lifecycleEntries.values).contains { $0.statistics.inFlight > 0 }
    }

    /// Continues waiting work after other work has ended.
    func afterWork() {
        continueWork()
        noteLessWork()
    }

    /// Releases everything that retains the plugin: it was removed.
    func releaseHost() {
        onLessWork = nil
        tasks = []
        interceptors = []
        lifecycleEntries = [:]
        unfinished.removeAll()
        endings = []
        endSessionReport()
        waiting.forgetTasks()
    }
}
