import BridgeJSON
import DequeModule

/// A plugin's work whose size depends on clients, one call or session at a time: ends of calls after a fault, reports
/// of sessions, schemas, refusals, and starts of calls. It has a share of the loop, as users have.
final class PluginJob: StepJob {
    let session: Session? = nil
    private let instance: PluginInstance

    init(_ instance: PluginInstance) { self.instance = instance }

    func step(until budget: StepBudget) -> StepOutcome {
        while instance.workOnce() {
            if budget.isSpent { return .unfinished }
        }
        instance.isAtWork = false
        instance.noteLessWork()
        return .done
    }
}

/// Calls that a plugin worked on and that end with an error, one after another.
struct EndingCalls {
    let handles: [CallHandle]
    let error: BridgeError
    private var index = 0

    init(_ handles: [CallHandle], _ error: BridgeError) { (self.handles, self.error) = (handles, error) }

    mutating func next() -> CallHandle? {
        guard index < handles.count else { return nil }
        defer { index += 1 }
        return handles[index]
    }
}

extension PluginInstance {
    /// Continues pending work within the plugin's share of the turn; the rest follows in later turns.
    func continueWork() {
        guard !isAtWork, hasWork else { return }
        isAtWork = true
        calls.steps.begin(PluginJob(self), for: account)
    }

    private var hasWork: Bool {
        !endings.isEmpty || unreported != nil || hasSchemasToReport || pauses.isEmpty && waiting.hasDue
            || isRefusing && !waiting.isEmpty
    }

    /// Whether all waiting calls are refused.
    private var isRefusing: Bool { state == .unavailable && refusal != nil }

    /// Does one piece of work; returns false if there is none. Each piece is complete: between two pieces there are
    /// only running calls, ordered waiting calls, and ended calls.
    func workOnce() -> Bool {
        if endNext() || reportNext() || reportSchemas() { return true }
        if isRefusing, let refusal, let call = waiting.first {
            leaveQueue(of: call)
            calls.abort(call, refusal, reason: .shutdown)
            return true
        }
        return beginNext()
    }

    // MARK: Calls that end

    private func endNext() -> Bool {
        while !endings.isEmpty {
            guard let handle = endings[0].next() else {
                endings.removeFirst()
                continue
            }
            endWork(on: handle, endings[0].error)
            return true
        }
        return false
    }

    private func endWork(on handle: CallHandle, _ error: BridgeError) {
        if let task = unfinished.remove(handle, at: calls.clock.now) {
            leave(task)
        } else if ownCall(handle, of: calls) != nil {
            fail(handle, error)
        }
    }

    // MARK: Sessions

    /// Reports the existing sessions to the plugin before it receives further calls.
    func reportSessions() {
        unreported = UnreportedSessions(upTo: directory.sessions.lastNumber)
        pause(.unreportedSessions)
        continueWork()
    }

    private func reportNext() -> Bool {
        guard unreported != nil else { return false }
        guard state == .running || state == .stopping, let session = unreported?.next(of: directory.sessions.list)
        else {
            endSessionReport()
            return true
        }
        host.notify(.opened, session)
        return true
    }

    /// Stops the report of sessions.
    func endSessionReport() {
        unreported = nil
        pauses.remove(.unreportedSessions)
    }

    func notify(_ change: SessionChange, _ session: Session) {
        guard state == .running else { return }
        for change in unreported?.changes(change, of: session) ?? [change] { host.notify(change, session) }
    }

    // MARK: Calls that begin

    private func beginNext() -> Bool {
        guard pauses.isEmpty, waiting.hasDue, let call = waiting.nextCandidate(), let task = call.task else {
            return false
        }
        if let reason = reasonToWait(call, task) {
            waiting.put(call, waitingFor: reason)
            if reason == .process { waiting.noteNoProcess(for: task) }
        } else {
            begin(call, of: task)
        }
        return true
    }

    private func reasonToWait(_ call: Call, _ task: TaskEntry) -> WaitReason? {
        if task.isInternal, !task.isInterceptor { return nil }
        guard task.runningCount < task.maximumRunning, task.blocked.first.map({ $0 == call }) ?? true else {
            return .task
        }
        guard host.choosesCalls else { return nil }
        switch host.room(for: call) {
        case .free: return nil
        case .unread: return .reader
        case .full: return .process
        }
    }

    private func begin(_ call: Call, of task: TaskEntry) {
        let handle = call.handle
        let isUnchecked = call.extras.isUnchecked
        call.extras.isUnchecked = false
        call.takeHeldOptions().withPadding {
            if isUnchecked, !fits(call, of: task, options: $0) { return keepPosition(ofChecked: handle) }
            leaveQueue(of: call)
            run(call, task, options: $0)
        }
    }

    private func fits(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) -> Bool {
        guard options.count <= task.optionBytes else {
            calls.refuseLength(of: call, options.count, task.optionBytes)
            return false
        }
        return task.optionsCheck.map { calls.fits(call, options, $0) } ?? true
    }

    /// Keeps the position of a call that is being checked in the lane, unless the call has ended: other calls of its
    /// session wait behind it.
    private func keepPosition(ofChecked handle: CallHandle) {
        guard let call = calls.call(handle) else { return }
        guard call.origin == .session else { return leaveQueue(of: call) }
        calls.keepPosition(of: call, in: self)
    }
}
