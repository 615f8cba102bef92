import BridgeJSON
import BridgeMessage
import DequeModule

/// What sessions are sent, written at the end of each turn: session by session, for each user within a share. What is
/// beyond it is a job of the user. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class SessionOutput {
    /// Those that have something to write. Not retained: see ``forgotten``.
    @exclusivity(unchecked) private var dirty: [Unmanaged<Session>] = []
    /// Those whose turn it is to write; empty but within ``write()``, kept for its memory.
    @exclusivity(unchecked) private var writing: [Unmanaged<Session>] = []
    /// Sessions that ended in this turn: they may be among the two above, and on the stack.
    @exclusivity(unchecked) private var forgotten: [Session] = []
    let quotas: Quotas
    private let clock: any RuntimeClock
    private let turns: LoopTurns
    private let steps: StepScheduler

    init(_ quotas: Quotas, _ clock: any RuntimeClock, _ turns: LoopTurns, _ steps: StepScheduler) {
        self.quotas = quotas
        self.clock = clock
        self.turns = turns
        self.steps = steps
    }

    /// Notes that a session has something to write, or to be closed, at the end of this turn.
    @inline(__always)
    func markDirty(_ session: Session) {
        guard !session.isDirty else { return }
        session.isDirty = true
        dirty.append(.passUnretained(session))
    }

    /// The session has ended. It is kept to the end of the turn.
    func forget(_ session: Session) { forgotten.append(session) }

    /// Has every session that has something to write do so.
    func write() {
        while !dirty.isEmpty {
            swap(&dirty, &writing)
            if writing.count == 1 {
                writing[0]._withUnsafeGuaranteedRef { write($0) }
            } else {
                writeAll()
            }
            writing.removeAll(keepingCapacity: true)
        }
        if !forgotten.isEmpty { forgotten.removeAll() }
    }

    private func write(_ session: Session) {
        session.isDirty = false
        session.transport?.writeOutput()
    }

    private func writeAll() {
        let share = steps.share()
        var mark = clock.now.nanoseconds
        for index in writing.indices {
            writing[index]._withUnsafeGuaranteedRef { session in
                let hasRoom = session.unownedAccount._withUnsafeGuaranteedRef {
                    $0.steps.unwritten.isEmpty && $0.steps.remaining(of: share, in: turns.number) > 0
                }
                guard hasRoom else { return writeLater(session) }
                write(session)
                let now = clock.now.nanoseconds
                session.unownedAccount._withUnsafeGuaranteedRef { $0.steps.spentNanoseconds &+= now &- mark }
                mark = now
            }
        }
    }

    /// The session stays marked, so that it is not entered twice.
    private func writeLater(_ session: Session) {
        let isFirst = session.account.steps.unwritten.isEmpty
        session.account.steps.unwritten.append(session)
        if isFirst { steps.begin(OutputJob(session.account, self), for: session.account) }
    }

    /// Writes what one session has to write that waited for its user's share.
    fileprivate func writeNext(of account: UserAccount) -> Bool {
        guard let session = account.steps.unwritten.popFirst() else { return false }
        write(session)
        return true
    }
}

/// Output of a user that is beyond the share of a turn.
private final class OutputJob: StepJob {
    let session: Session? = nil
    private let account: UserAccount
    private let output: SessionOutput

    init(_ account: UserAccount, _ output: SessionOutput) {
        self.account = account
        self.output = output
    }

    func step(until budget: StepBudget) -> StepOutcome {
        while output.writeNext(of: account) {
            if budget.isSpent { return account.steps.unwritten.isEmpty ? .done : .unfinished }
        }
        return .done
    }
}
