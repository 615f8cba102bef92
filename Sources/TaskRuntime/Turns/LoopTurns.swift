/// The turns of the loop: their number, what is done at present, and which of them took too long. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class LoopTurns {
    /// Grows with each turn of the loop.
    @exclusivity(unchecked) private(set) var number: UInt64 = 1
    /// What is done at present.
    @exclusivity(unchecked) private(set) var step = RuntimeStep()
    /// The turns that took too long.
    private(set) var long = LongTurns()

    /// A turn has ended.
    func endTurn() { number &+= 1 }

    /// Notes what is done now, for a session.
    @inline(__always)
    func note(_ kind: RuntimeStep.Kind, _ number: UInt64 = 0, of session: Session) {
        note(kind, number, uid: session.peer.uid)
    }

    /// Notes what is done now.
    @inline(__always)
    func note(_ kind: RuntimeStep.Kind, _ number: UInt64 = 0, uid: UInt32 = 0) {
        step = RuntimeStep(number: number, uid: uid, turn: UInt32(truncatingIfNeeded: self.number), kind: kind)
    }

    /// Whether ``step`` was noted in the turn that ends. Some steps run behind the writing of output, which counts the
    /// turns.
    var isStepOfThisTurn: Bool { UInt32(truncatingIfNeeded: number) &- step.turn <= 1 }

    /// Notes a turn of more than 5 ms. Whether it was long.
    func noteSlowTurn(_ cpuTime: Duration) -> Bool { long.note(cpuTime) }

    /// Counts a long turn for the step that ran last in it.
    ///
    /// - Returns: How many long turns a line of the log is to report; nil: none is due.
    func countLongTurn(_ step: LongTurns.Step, _ cpuTime: Duration, at now: RuntimeInstant) -> Int? {
        long.count(step, cpuTime)
        return long.takeUnlogged(at: now)
    }
}
