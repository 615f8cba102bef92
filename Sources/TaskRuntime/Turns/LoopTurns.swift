/// The turns of the loop: their number, the current step, and the turns that took too long. Loop thread only.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class LoopTurns {
    /// The number of the turn; it increases with each turn of the loop.
    @exclusivity(unchecked) private(set) var number: UInt64 = 1
    /// The current step.
    @exclusivity(unchecked) private(set) var step = RuntimeStep()
    /// The turns that took too long.
    private(set) var long = LongTurns()

    /// Ends a turn.
    func endTurn() { number &+= 1 }

    /// Notes the current step, for a session.
    @inline(__always)
    func note(_ kind: RuntimeStep.Kind, _ number: UInt64 = 0, of session: Session) {
        note(kind, number, uid: session.peer.uid)
    }

    /// Notes the current step.
    @inline(__always)
    func note(_ kind: RuntimeStep.Kind, _ number: UInt64 = 0, uid: UInt32 = 0) {
        step = RuntimeStep(number: number, uid: uid, turn: UInt32(truncatingIfNeeded: self.number), kind: kind)
    }

    /// Whether ``step`` was noted in the turn that ends. Some steps run after the output is written, which increases
    /// ``number``.
    var isStepOfThisTurn: Bool { UInt32(truncatingIfNeeded: number) &- step.turn <= 1 }

    /// Notes a turn of more than 5 ms, and returns whether it was long.
    func noteSlowTurn(_ cpuTime: Duration) -> Bool { long.note(cpuTime) }

    /// Counts a long turn for its last step.
    ///
    /// - Returns: The number of long turns for a line in the log; `nil` if no line is due.
    func countLongTurn(_ step: LongTurns.Step, _ cpuTime: Duration, at now: RuntimeInstant) -> Int? {
        long.count(step, cpuTime)
        return long.takeUnlogged(at: now)
    }
}
