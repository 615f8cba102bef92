/// Goes through the calls that are in flight when it begins, the oldest first, within a share of the loop. Calls that
/// end meanwhile are left out.
final class CallSweep: StepJob {
    let session: Session? = nil
    /// The last call that was visited, and the last one to visit, by number.
    private var position: UInt64 = 0
    private let last: UInt64
    private let calls: CallEngine
    private let visit: (Call) -> Void
    private let done: () -> Void

    /// - Parameters:
    ///   - visit: called with each call, which it may end.
    ///   - done: called once, at the end.
    init(_ calls: CallEngine, done: @escaping () -> Void = {}, _ visit: @escaping (Call) -> Void) {
        self.calls = calls
        last = calls.begunCount
        self.visit = visit
        self.done = done
    }

    func step(until budget: StepBudget) -> StepOutcome {
        while let call = calls.next(behind: position), call.number <= last {
            position = call.number
            visit(call)
            if budget.isSpent { return .unfinished }
        }
        done()
        return .done
    }
}
