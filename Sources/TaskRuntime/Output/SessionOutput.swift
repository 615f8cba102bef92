import BridgeJSON
import BridgeMessage
import DequeModule

/// Writes the output of sessions at the end of each turn: session by session, for each user within a share. Output
/// beyond the share becomes a job of the user. Loop thread only.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class SessionOutput {
    /// The sessions with pending output. Not retained: see ``forgotten``.
    @exclusivity(unchecked) private var dirty: [Unmanaged<Session>] = []
    /// The sessions that are being written. Empty except within ``write()``; kept to reuse its memory.
    @exclusivity(unchecked) private var writing: [Unmanaged<Session>] = []
    /// The sessions that ended in this turn. They are retained until its end, as the two arrays above and the stack may
    /// refer to them.
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

    /// Notes that a session must be written to, or closed, at the end of this turn.
    @inline(__always)
    func markDirty(_ session: Session) {
        guard !session.isDirty else { return }
        session.isDirty = true
        dirty.append(.passUnretained(session))
    }

    /// Retains a session that has ended until the end of the turn.
    func forget(_ session: Session) { forgotten.append(session) }

    /// Writes the pending output of all sessions.
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

    /// The size up to which a write is short.
    private static let shortBytes = 4 * 1024
    /// The part of the share for each short write that is charged together with others.
    private static let nanosecondsPerCharge: UInt64 = 125_000
    /// The maximum number of short writes that are charged together.
    private static let maximumPerCharge: UInt64 = 8

    /// Writes the sessions, and charges the time to their accounts. If the share is long, because there is only one
    /// user, several short writes are charged together: reading the clock takes a hundredth of the time of a call.
    private func writeAll() {
        let share = steps.share()
        let chargedTogether = Int(clamping: min(max(share / Self.nanosecondsPerCharge, 1), Self.maximumPerCharge))
        var mark = clock.now.nanoseconds
        var uncharged = 0
        for index in writing.indices {
            writing[index]._withUnsafeGuaranteedRef { session in
                let hasRoom = session.unownedAccount._withUnsafeGuaranteedRef {
                    $0.steps.unwritten.isEmpty && $0.steps.remaining(of: share, in: turns.number) > 0
                }
                guard hasRoom else { return writeLater(session) }
                uncharged += session.output.count > Self.shortBytes ? chargedTogether : 1
                write(session)
                guard uncharged >= chargedTogether else { return }
                let now = clock.now.nanoseconds
                session.unownedAccount._withUnsafeGuaranteedRef { $0.steps.spentNanoseconds &+= now &- mark }
                (mark, uncharged) = (now, 0)
            }
        }
    }

    /// Defers the write to a job of the user. The session stays marked as dirty, so that it is not added twice.
    private func writeLater(_ session: Session) {
        let isFirst = session.account.steps.unwritten.isEmpty
        session.account.steps.unwritten.append(session)
        if isFirst { steps.begin(OutputJob(session.account, self), for: session.account) }
    }

    /// Writes the output of the next session that waits for its user's share; returns false if there is none.
    fileprivate func writeNext(of account: UserAccount) -> Bool {
        guard let session = account.steps.unwritten.popFirst() else { return false }
        write(session)
        return true
    }
}

/// A job that writes a user's output beyond the share of a turn.
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
