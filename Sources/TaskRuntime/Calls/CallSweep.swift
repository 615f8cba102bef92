/// Visits the calls that are in flight when it begins, the oldest first, within a share of the loop. Calls that end
/// meanwhile are omitted.
final class CallSweep: StepJob {
    let session: Session? = nil
    /// The numbers of the last visited call, and of the last call to visit.
    private var position: UInt64 = 0
    private let last: UInt64
    private let calls: CallEngine
    private let visit: (Call) -> Void
    private let done: () -> Void

    /// - Parameters:
    ///   - visit: Called with each call, which it may end.
    ///   - done: Called once, at the end.
    init(_ calls: CallEngine, done: @escaping () -> Void = {}, _ visit: @escaping (Call) -> Void) {
        self.calls = calls
        last = calls.begunCount
        self.visit = visit
        self.done = done
    }

    func step(until budget: StepBudget) -> StepOutcome {
        while let call = calls.next(after: position), call.number <= last {
            position = call.number
            visit(call)
            if budget.isSpent { return .unfinished }
        }
        done()
        return .done
    }
}
