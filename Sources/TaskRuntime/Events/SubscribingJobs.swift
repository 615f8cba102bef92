import BridgeJSON
import BridgeMessage

/// A `bridge.subscribe`: its patterns are read and checked one after the other, and entered all at once. Retained
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
    /// The retained events on their way, once the session listens.
    private var replay: RetainedReplay?

    init(_ call: CallHandle, _ session: Session, _ names: NameReader, dialect: DialectID) {
        self.call = call
        self.session = session
        listener = session
        reader = PatternReader(names)
        self.dialect = dialect
    }

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> Bool {
        guard listener.takesMessages else { return true }
        if replay != nil { return replay?.step(runtime, until: budget) ?? true }
        // Nobody waits for a call that was cancelled.
        guard let call = runtime.calls.call(call) else { return true }
        do throws(BridgeError) {
            guard try isChecked(runtime, until: budget) else { return false }
        } catch {
            runtime.end(call, .failure(error))
            return true
        }
        listen(call, runtime)
        return budget.isSpent ? replay == nil : replay?.step(runtime, until: budget) ?? true
    }

    private func isChecked(_ runtime: TaskRuntime, until budget: StepBudget) throws(BridgeError) -> Bool {
        if added == nil {
            guard try reader.read(until: budget) else { return false }
            added = reader.patterns.filter { listener.subscriptions[$0] == nil }
        }
        let added = added ?? []
        // Before anything is asked about each of them, and again where others have had turns.
        try runtime.checkSubscriptions(listener.subscriptions.count + added.count, of: listener)
        while checkedCount < added.count {
            let pattern = added[checkedCount]
            // Behind a beginning are events of all kinds: each is looked at when it is sent.
            if !pattern.isBeginning, !runtime.mayGet(pattern.text, listener) {
                try runtime.check(.subscribe, pattern.text, by: listener, to: "listen to \(pattern.text)")
            }
            checkedCount += 1
            if budget.isSpent, checkedCount < added.count { return false }
        }
        return true
    }

    /// The callback first: then the client knows what an event is for.
    private func listen(_ call: Call, _ runtime: TaskRuntime) {
        let first = listener.nextSubscription
        for pattern in added ?? [] { runtime.subscriptions.add(pattern, to: listener) }
        listener.subscribedDialect = dialect
        replay = RetainedReplay(runtime.retained, to: listener, firstNew: first)
        runtime.subscriptionList(listener).withUnsafeBytes { runtime.end(call, .result($0)) }
    }
}

/// A `bridge.unsubscribe`: nothing changes before all patterns have been read.
final class UnsubscribingJob: StepJob {
    let session: Session?
    private let call: CallHandle
    private let listener: Session
    private var reader: PatternReader
    /// Those that have not been removed; nil: they have not all been read.
    private var left: ArraySlice<EventPattern>?

    init(_ call: CallHandle, _ session: Session, _ names: NameReader) {
        self.call = call
        self.session = session
        listener = session
        reader = PatternReader(names)
    }

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> Bool {
        guard let call = runtime.calls.call(call), listener.takesMessages else { return true }
        do throws(BridgeError) {
            if left == nil {
                guard try reader.read(until: budget) else { return false }
                left = reader.patterns[...]
            }
        } catch {
            runtime.end(call, .failure(error))
            return true
        }
        while let pattern = left?.popFirst() {
            runtime.subscriptions.remove(pattern, from: listener)
            if budget.isSpent { return false }
        }
        runtime.subscriptionList(listener).withUnsafeBytes { runtime.end(call, .result($0)) }
        return true
    }
}
