/// Runs the jobs of users, each within its user's share of a turn; the rest waits in the user's queue. Loop thread
/// only.
final class StepScheduler {
    private let clock: any RuntimeClock
    private let turns: LoopTurns
    /// How long one user may keep the loop in a turn, in nanoseconds.
    var share: () -> UInt64 = { 1_000_000 }
    /// Called with a user whose jobs wait for ``run(of:forNanoseconds:)``.
    var onJobs: ((UserAccount) -> Void)?
    /// Called whenever a session's input waits for one thing less.
    var onRelease: () -> Void = {}
    /// What the input of sessions waits for: ``Session/waitingJobs`` of all.
    private(set) var waitingJobs = 0

    init(_ clock: any RuntimeClock, _ turns: LoopTurns) {
        self.clock = clock
        self.turns = turns
    }

    /// Begins a job for a user. It may be done when this returns.
    func begin(_ job: any StepJob, for account: UserAccount) {
        let outcome = runShare(of: account, job)
        if outcome == .done { return }
        beginWaiting(of: job.session)
        if outcome == .unfinished { enqueue(job, for: account) }
    }

    /// What a parked job waited for is done: it goes on. It may be done when this returns.
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

    /// One thing more for which the session's input waits.
    func beginWaiting(of session: Session?) {
        guard let session else { return }
        session.waitingJobs += 1
        waitingJobs += 1
    }

    /// One thing less for which the session's input waits.
    func endWaiting(of session: Session?) {
        guard let session else { return }
        session.waitingJobs -= 1
        waitingJobs -= 1
        if session.waitingJobs == 0 { session.transport?.inputMayContinue() }
        onRelease()
    }

    /// Runs a job for what is left of the user's share, where no other one comes first.
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

    /// Goes on with the jobs of a user, in their order. To be called for each account that ``onJobs`` was called with,
    /// turn by turn, until it returns false.
    ///
    /// - Returns: whether jobs are left.
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
