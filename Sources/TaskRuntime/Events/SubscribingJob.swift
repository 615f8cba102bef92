import BridgeJSON
import BridgeMessage

/// A `bridge.subscribe`: its patterns are read, checked and entered one after the other, and hold all at once. Retained
/// events follow behind the callback.
final class SubscribingJob: StepJob {
    let session: Session?
    private let call: CallHandle
    private let listener: Session
    private let dialect: DialectID
    private var reader: PatternReader
    /// Those that the session does not listen to yet; nil: they have not all been read.
    private var added: [EventPattern]?
    private var checkedCount = 0
    private var enteredCount = 0
    /// The answer, once all have been entered.
    private var answer: [UInt8]?
    /// The retained events on their way, once the session listens.
    private var replay: RetainedReplay?

    init(_ call: CallHandle, _ session: Session, _ names: NameReader, dialect: DialectID) {
        self.call = call
        self.session = session
        listener = session
        reader = PatternReader(names)
        self.dialect = dialect
    }

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome {
        // The end of a session takes out what it has.
        guard listener.takesMessages else { return .done }
        if replay != nil { return StepOutcome(isDone: replay?.step(runtime, until: budget) ?? true) }
        // No caller waits for a call that was cancelled.
        guard let call = runtime.calls.call(call) else {
            return StepOutcome(isDone: isWithdrawn(runtime, until: budget))
        }
        do throws(BridgeError) {
            guard try isChecked(runtime, until: budget) else { return .unfinished }
        } catch {
            runtime.end(call, .failure(error))
            return .done
        }
        guard isEntered(runtime, until: budget) else { return .unfinished }
        listen(call, runtime)
        return StepOutcome(isDone: budget.isSpent ? replay == nil : replay?.step(runtime, until: budget) ?? true)
    }

    private func isChecked(_ runtime: TaskRuntime, until budget: StepBudget) throws(BridgeError) -> Bool {
        if added == nil {
            guard try reader.read(until: budget) else { return false }
            let added = reader.patterns.filter { listener.subscriptions[$0] == nil }
            // Before anything is asked about each of them. Nothing else adds to those of the user while this job is not
            // done.
            try runtime.checkSubscriptions(listener.subscriptions.count + added.count, of: listener)
            self.added = added
        }
        let added = added ?? []
        while checkedCount < added.count {
            let pattern = added[checkedCount]
            // Behind a beginning are events of all kinds: each is looked at when it is sent.
            if !pattern.isBeginning, !runtime.mayGet(pattern.text, listener) {
                try runtime.check(.subscribe, pattern.text, by: listener, to: "listen to \(pattern.text)")
            }
            checkedCount += 1
            if budget.isSpent { return false }
        }
        return true
    }

    private func isEntered(_ runtime: TaskRuntime, until budget: StepBudget) -> Bool {
        let added = added ?? []
        while enteredCount < added.count {
            runtime.subscriptions.enter(added[enteredCount], of: listener)
            enteredCount += 1
            if budget.isSpent { return false }
        }
        if answer == nil {
            answer = runtime.subscriptionList(listener.patterns + added)
            if budget.isSpent { return false }
        }
        return true
    }

    /// Takes out what has been entered; true: all of it.
    private func isWithdrawn(_ runtime: TaskRuntime, until budget: StepBudget) -> Bool {
        while enteredCount > 0, let pattern = added?[enteredCount - 1] {
            runtime.subscriptions.remove(pattern, from: listener)
            enteredCount -= 1
            if budget.isSpent { return enteredCount == 0 }
        }
        return true
    }

    /// The callback first: then the client knows what an event is for.
    private func listen(_ call: Call, _ runtime: TaskRuntime) {
        let firstNew = listener.begunSubscriptions
        runtime.subscriptions.begin(of: listener)
        listener.subscribedDialect = dialect
        if !listener.listeners.isEmpty {
            for pattern in reader.patterns { listener.listeners.keepSubscription(to: pattern.text) }
        }
        replay = RetainedReplay(runtime.retained, to: listener, firstNew: firstNew)
        answer?.withUnsafeBytes { runtime.end(call, .result($0)) }
    }
}
