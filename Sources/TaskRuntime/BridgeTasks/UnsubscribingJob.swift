import BridgeJSON

/// A job for `bridge.unsubscribe`. Nothing changes before all patterns have been read. Then all are removed, even if
/// the call ends meanwhile.
final class UnsubscribingJob: StepJob {
    let session: Session?
    private let calls: CallEngine
    private let call: CallHandle
    private let listener: Session
    private var reader: PatternReader
    /// The patterns that have not been removed; `nil` until all have been read.
    private var left: ArraySlice<EventPattern>?

    init(_ calls: CallEngine, _ call: CallHandle, _ session: Session, _ names: NameReader) {
        self.calls = calls
        self.call = call
        self.session = session
        listener = session
        reader = PatternReader(names)
    }

    func step(until budget: StepBudget) -> StepOutcome {
        guard left != nil || calls.call(call) != nil, listener.takesMessages else { return .done }
        do throws(BridgeError) {
            if left == nil {
                guard try reader.read(until: budget) else { return .unfinished }
                left = reader.patterns[...]
            }
        } catch {
            if let call = calls.call(call) { calls.end(call, .failure(error)) }
            return .done
        }
        while let pattern = left?.popFirst() {
            calls.events.remove(pattern, from: listener)
            listener.listeners.removeAll(to: pattern.text)
            if budget.isSpent { return .unfinished }
        }
        guard let call = calls.call(call) else { return .done }
        Session.subscriptionList(listener.patterns).withUnsafeBytes { calls.end(call, .result($0)) }
        return .done
    }
}
