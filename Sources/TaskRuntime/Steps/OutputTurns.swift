import DequeModule

// Output at the end of a turn: session by session, for each user within a share. What is beyond it is a job of the
// user.
extension TaskRuntime {
    /// Notes that a session has something to write, or to be closed, at the end of this turn.
    public func markDirty(_ session: Session) {
        guard !session.isDirty else { return }
        session.isDirty = true
        dirtySessions.append(.passUnretained(session))
    }

    /// Has every session that has something to write do so. To be called at the end of each turn of the loop.
    public func writeOutput() {
        turnNumber &+= 1
        if !instancesToAdmit.isEmpty { admitBehindEnded() }
        while !dirtySessions.isEmpty {
            swap(&dirtySessions, &writingSessions)
            if writingSessions.count == 1 {
                writingSessions[0]._withUnsafeGuaranteedRef { write($0) }
            } else {
                writeAll()
            }
            writingSessions.removeAll(keepingCapacity: true)
        }
        if !forgottenSessions.isEmpty { forgottenSessions.removeAll() }
        if isMonitored { renewTrafficAllowance() }
    }

    private func write(_ session: Session) {
        session.isDirty = false
        session.transport?.writeOutput()
    }

    private func writeAll() {
        let share = turnShare()
        var mark = clock.now.nanoseconds
        for index in writingSessions.indices {
            writingSessions[index]._withUnsafeGuaranteedRef { session in
                let account = session.account
                guard account.steps.unwritten.isEmpty, account.steps.remaining(of: share, in: turnNumber) > 0 else {
                    return writeLater(session)
                }
                write(session)
                let now = clock.now.nanoseconds
                account.steps.spentNanoseconds &+= now &- mark
                mark = now
            }
        }
    }

    /// The session stays marked, so that it is not entered twice.
    private func writeLater(_ session: Session) {
        let isFirst = session.account.steps.unwritten.isEmpty
        session.account.steps.unwritten.append(session)
        if isFirst { begin(OutputJob(session.account), for: session.account) }
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

    init(_ account: UserAccount) { self.account = account }

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome {
        while runtime.writeNext(of: account) {
            if budget.isSpent { return account.steps.unwritten.isEmpty ? .done : .unfinished }
        }
        return .done
    }
}
