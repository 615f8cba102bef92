import BridgeJSON
import DequeModule

// A plugin's calls that wait: for what, for how long, and for whom where another plugin takes its place.
extension PluginInstance {
    /// The host may take calls that it did not take before.
    public func roomWasMade() {
        guard !waiting.isEmpty else { return }
        waiting.noteProcess()
        for task in tasks { waiting.noteRoom(of: task) }
        continueWork()
    }

    /// The same of a session's calls alone: it has a process of its own now.
    public func roomWasMade(forCallsOf session: UInt64) {
        guard !waiting.isEmpty else { return }
        waiting.noteProcess(of: session)
        continueWork()
    }

    /// Calls wait from now on, until ``resume(_:)`` for every reason.
    public func pause(_ reason: PauseReasons) { pauses.insert(reason) }

    /// That is no longer a reason.
    public func resume(_ reason: PauseReasons) {
        pauses.remove(reason)
        continueWork()
    }

    /// The calls that wait go to another plugin from now on, in their order, to be held against what it takes when
    /// their turn comes. Those of tasks that it does not have no longer wait. Questions to interceptors stay.
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

    /// What becomes of a task's calls that have not begun when another plugin takes this one's place.
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

    /// Whether any call of its tasks, or question to it, has not ended.
    var hasCallsInFlight: Bool {
        (tasks + interceptors.map(\.entry) + lifecycleEntries.values).contains { $0.statistics.inFlight > 0 }
    }

    /// Room was made: what waits for it goes on.
    func afterWork() {
        continueWork()
        noteLessWork()
    }

    /// It is no longer known: what holds on to it is let go.
    func releaseHost() {
        onLessWork = nil
        tasks = []
        interceptors = []
        lifecycleEntries = [:]
        unfinished.removeAll()
        endings = []
        endNews()
        waiting.forgetTasks()
    }
}
