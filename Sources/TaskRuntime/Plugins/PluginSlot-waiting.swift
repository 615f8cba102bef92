import BridgeJSON

// A plugin's calls that wait: for what, for how long, and for whom where another plugin takes its place.
extension PluginSlot {
    /// The host may take calls that it did not take before.
    public func roomWasMade() { if !waiting.isEmpty { admitWaiting() } }

    /// Calls wait from now on, until ``resume(_:)`` for every reason.
    public func pause(_ reason: PauseReasons) { pauses.insert(reason) }

    /// That is no reason any more.
    public func resume(_ reason: PauseReasons) {
        pauses.remove(reason)
        if pauses.isEmpty { admitWaiting() }
    }

    /// The calls that wait go to another plugin from now on, in their order; those of tasks that it does not have are
    /// refused. Questions to interceptors stay.
    func handWaiting(to successor: PluginSlot) {
        let handles = Array(waiting)
        waiting.removeAll()
        waitingBySession.removeAll()
        for handle in handles {
            guard let call = runtime.calls.call(handle), let task = call.task else { continue }
            if task.isInterceptor {
                enqueue(call)
            } else if let next = successor.tasks.first(where: { $0.name == task.name }) {
                hand(call, to: successor, next)
            } else {
                runtime.abort(call, noSuccessor(of: task), reason: .shutdown)
            }
        }
    }

    func noSuccessor(of task: TaskEntry) -> BridgeError {
        BridgeError(.taskNotFound, "\(providerName) was replaced, and provides no task \(task.name) any more")
    }

    private func hand(_ call: Call, to successor: PluginSlot, _ task: TaskEntry) {
        let isAskedAbout = call.isAskedAbout(in: self)
        call.move(to: task)
        guard !isAskedAbout else {
            call.passage?.queue = successor
            return successor.keepPlace(of: call)
        }
        let handle = call.handle
        call.takeHeldOptions().withPadding {
            guard $0.count <= task.optionBytes else {
                return runtime.refuseLength(of: call, $0.count, task.optionBytes)
            }
            if let check = task.optionsCheck, !runtime.fits(call, $0, check) {
                return successor.keepPlace(ofChecked: handle)
            }
            successor.start(call, of: task, options: $0)
        }
    }

    /// A call that waited is being checked in the lane, unless it has ended: others of its session wait behind it.
    private func keepPlace(ofChecked handle: CallHandle) {
        guard let call = runtime.calls.call(handle), call.origin == .session else { return }
        runtime.keepPlace(of: call, in: self)
    }

    /// Whether no call is worked on, answered or not, and none waits but for another plugin to take its place.
    var isIdle: Bool {
        (pauses.contains(.handover) || waiting.isEmpty) && tasks.allSatisfy { $0.runningCount == 0 }
            && interceptors.allSatisfy { $0.entry.runningCount == 0 }
    }

    /// Has `body` told once when no call is worked on and none waits for this plugin, which may be at once; nil: nobody
    /// is to be told any more.
    public func whenIdle(_ body: (() -> Void)?) {
        onIdle = body
        noteIdle()
    }

    func noteIdle() {
        guard let onIdle, isIdle else { return }
        self.onIdle = nil
        onIdle()
    }

    /// Room was made: what waits for it goes on.
    func afterWork() {
        admitWaiting()
        noteIdle()
    }

    /// It is known no more: what holds on to it is let go.
    func letGo() {
        onIdle = nil
        tasks = []
        interceptors = []
        lifecycleEntries = []
        abandoned = [:]
    }
}
