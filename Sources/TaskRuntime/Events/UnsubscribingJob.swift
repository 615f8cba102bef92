import BridgeJSON

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

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome {
        guard let call = runtime.calls.call(call), listener.takesMessages else { return .done }
        do throws(BridgeError) {
            if left == nil {
                guard try reader.read(until: budget) else { return .unfinished }
                left = reader.patterns[...]
            }
        } catch {
            runtime.end(call, .failure(error))
            return .done
        }
        while let pattern = left?.popFirst() {
            runtime.subscriptions.remove(pattern, from: listener)
            if budget.isSpent { return .unfinished }
        }
        runtime.subscriptionList(listener.patterns).withUnsafeBytes { runtime.end(call, .result($0)) }
        return .done
    }
}
