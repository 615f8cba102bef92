import BridgeJSON
import BridgeMessage

/// A job for `bridge.subscribe`: its patterns are read, checked and entered one after the other, and take effect
/// together. Retained events follow the callback.
final class SubscribingJob: StepJob {
    let session: Session?
    private let calls: CallEngine
    private let events: EventBus
    private let call: CallHandle
    private let listener: Session
    private let dialect: DialectID
    private var reader: PatternReader
    /// The patterns that the session is not subscribed to yet; `nil` until all patterns have been read.
    private var added: [EventPattern]?
    private var checkedCount = 0
    private var enteredCount = 0
    /// The answer; `nil` until all patterns have been entered.
    private var answer: [UInt8]?
    /// The delivery of retained events; `nil` before the subscriptions take effect.
    private var replay: RetainedReplay?

    init(
        _ calls: CallEngine, _ call: CallHandle, _ session: Session, _ names: NameReader, dialect: DialectID
    ) {
        self.calls = calls
        events = calls.events
        self.call = call
        self.session = session
        listener = session
        reader = PatternReader(names)
        self.dialect = dialect
    }

    func step(until budget: StepBudget) -> StepOutcome {
        // The end of a session removes its subscriptions.
        guard listener.takesMessages else { return .done }
        if replay != nil { return StepOutcome(isDone: replay?.step(until: budget) ?? true) }
        // No caller waits for a call that was cancelled.
        guard let call = calls.call(call) else {
            return StepOutcome(isDone: isWithdrawn(until: budget))
        }
        do throws(BridgeError) {
            guard try isChecked(until: budget) else { return .unfinished }
        } catch {
            calls.end(call, .failure(error))
            return .done
        }
        guard isEntered(until: budget) else { return .unfinished }
        listen(call)
        return StepOutcome(isDone: budget.isSpent ? replay == nil : replay?.step(until: budget) ?? true)
    }

    private func isChecked(until budget: StepBudget) throws(BridgeError) -> Bool {
        if added == nil {
            guard try reader.read(until: budget) else { return false }
            let added = reader.patterns.filter { listener.subscriptions[$0] == nil }
            // This precedes the check of each pattern. Nothing else adds subscriptions of the user until this job is
            // done.
            try events.quotas.checkSubscriptions(listener.subscriptions.count + added.count, of: listener)
            self.added = added
        }
        let added = added ?? []
        while checkedCount < added.count {
            let pattern = added[checkedCount]
            // A pattern for a prefix matches events of all kinds: each event is checked when it is sent.
            if !pattern.isPrefix, !events.rights.mayGet(pattern.text, listener) {
                try events.rights.check(.subscribe, pattern.text, by: listener, to: "listen to \(pattern.text)")
            }
            checkedCount += 1
            if budget.isSpent { return false }
        }
        return true
    }

    private func isEntered(until budget: StepBudget) -> Bool {
        let added = added ?? []
        while enteredCount < added.count {
            events.enter(added[enteredCount], of: listener)
            enteredCount += 1
            if budget.isSpent { return false }
        }
        if answer == nil {
            answer = Session.subscriptionList(listener.patterns + added)
            if budget.isSpent { return false }
        }
        return true
    }

    /// Removes the entered patterns, and returns true once all are removed.
    private func isWithdrawn(until budget: StepBudget) -> Bool {
        while enteredCount > 0, let pattern = added?[enteredCount - 1] {
            events.remove(pattern, from: listener)
            enteredCount -= 1
            if budget.isSpent { return enteredCount == 0 }
        }
        return true
    }

    /// Puts the subscriptions into effect. The callback precedes the retained events, so that the client can assign
    /// them.
    private func listen(_ call: Call) {
        let firstNew = listener.begunSubscriptions
        events.begin(of: listener)
        listener.subscribedDialect = dialect
        if !listener.listeners.isEmpty {
            for pattern in reader.patterns { listener.listeners.keepSubscription(to: pattern.text) }
        }
        replay = events.replay(to: listener, firstNew: firstNew)
        answer?.withUnsafeBytes { calls.end(call, .result($0)) }
    }
}
