/// Runs the jobs of users, each within its user's share of a turn; the rest waits in the user's queue. Loop thread
/// only.
final class StepScheduler {
    private let clock: any RuntimeClock
    private let turns: LoopTurns
    /// Returns the time that one user may occupy the loop in a turn, in nanoseconds.
    var share: () -> UInt64 = { 1_000_000 }
    /// Called with the account of a user whose jobs wait for ``run(of:forNanoseconds:)``.
    var onJobs: ((UserAccount) -> Void)?
    /// Called when a session's input waits for one job less.
    var onRelease: () -> Void = {}
    /// The sum of ``Session/waitingJobs`` of all sessions, for which their input waits.
    private(set) var waitingJobs = 0

    init(_ clock: any RuntimeClock, _ turns: LoopTurns) {
        self.clock = clock
        self.turns = turns
    }

    /// Begins a job for a user. The job may be done when this returns.
    func begin(_ job: any StepJob, for account: UserAccount) {
        let outcome = runShare(of: account, job)
        if outcome == .done { return }
        beginWaiting(of: job.session)
        if outcome == .unfinished { enqueue(job, for: account) }
    }

    /// Continues a parked job whose wait has ended. The job may be done when this returns.
    func wake(_ job: any StepJob, for account: UserAccount) {
        switch runShare(of: account, job) {
        case .done: endWaiting(of: job.session)
        case .unfinished: enqueue(job, for: account)
        case .parked: break
        }
    }

    private func enqueue(_ job: any StepJob, for account: UserAccount) {
        account.steps.jobs.append(job)
        announceJobs(of: account)
    }

    /// Counts one more job for which the session's input waits.
    func beginWaiting(of session: Session?) {
        guard let session else { return }
        session.waitingJobs += 1
        waitingJobs += 1
    }

    /// Counts one job less for which the session's input waits.
    func endWaiting(of session: Session?) {
        guard let session else { return }
        session.waitingJobs -= 1
        waitingJobs -= 1
        if session.waitingJobs == 0 { session.transport?.inputMayContinue() }
        onRelease()
    }

    /// Runs a job for the rest of the user's share, unless other jobs of the user come first.
    private func runShare(of account: UserAccount, _ job: any StepJob) -> StepOutcome {
        guard account.steps.jobs.isEmpty, !account.steps.isRunning else { return .unfinished }
        let left = account.steps.remaining(of: share(), in: turns.number)
        return left > 0 ? run(job, of: account, forNanoseconds: left) : .unfinished
    }

    private func run(_ job: any StepJob, of account: UserAccount, forNanoseconds share: UInt64) -> StepOutcome {
        let start = clock.now.nanoseconds
        account.steps.isRunning = true
        let outcome = job.step(until: StepBudget(clock: clock, end: start &+ share))
        account.steps.isRunning = false
        _ = account.steps.remaining(of: 0, in: turns.number)
        account.steps.spentNanoseconds &+= clock.now.nanoseconds &- start
        return outcome
    }

    private func announceJobs(of account: UserAccount) {
        guard !account.steps.isAnnounced, let onJobs else { return }
        account.steps.isAnnounced = true
        onJobs(account)
    }

    /// Continues the jobs of a user, in their order. The caller repeats this in each turn for each account that
    /// ``onJobs`` was called with, until it returns false.
    ///
    /// - Returns: Whether jobs are left.
    func run(of account: UserAccount, forNanoseconds share: UInt64) -> Bool {
        if let plugin = account.pluginNumber {
            turns.note(.plugin, plugin)
        } else {
            turns.note(.job, uid: account.uid)
        }
        let start = clock.now.nanoseconds
        while let job = account.steps.jobs.first {
            let spent = clock.now.nanoseconds &- start
            guard spent == 0 || spent < share else { return true }
            let outcome = run(job, of: account, forNanoseconds: share - min(spent, share))
            if outcome == .unfinished { return true }
            account.steps.jobs.removeFirst()
            if outcome == .done { endWaiting(of: job.session) }
        }
        account.steps.isAnnounced = false
        return false
    }
}
