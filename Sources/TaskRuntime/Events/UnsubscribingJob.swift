import BridgeJSON

/// A `bridge.unsubscribe`: nothing changes before all patterns have been read, and then all of it, also where the call
/// ends meanwhile.
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

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome {
        guard left != nil || runtime.calls.call(call) != nil, listener.takesMessages else { return .done }
        do throws(BridgeError) {
            if left == nil {
                guard try reader.read(until: budget) else { return .unfinished }
                left = reader.patterns[...]
            }
        } catch {
            if let call = runtime.calls.call(call) { runtime.end(call, .failure(error)) }
            return .done
        }
        while let pattern = left?.popFirst() {
            runtime.subscriptions.remove(pattern, from: listener)
            listener.listeners.removeAll(to: pattern.text)
            if budget.isSpent { return .unfinished }
        }
        guard let call = runtime.calls.call(call) else { return .done }
        runtime.subscriptionList(listener.patterns).withUnsafeBytes { runtime.end(call, .result($0)) }
        return .done
    }
}
