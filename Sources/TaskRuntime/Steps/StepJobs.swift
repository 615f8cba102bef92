import DequeModule

/// Work whose size a client decides, cut into steps: the end of a session, output to many sessions, a registration.
///
/// A job runs at once as far as its user's share of the turn goes. The rest waits in the user's queue, before the
/// user's input (``TaskRuntime/runSteps(of:forNanoseconds:)``). Loop thread only.
protocol StepJob: AnyObject {
    /// The session whose further input waits for the end of the job; nil: no input waits.
    var session: Session? { get }
    /// Goes on until the budget is spent or the job is done, but always by one step.
    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome
}

/// What has become of a job at the end of a step.
enum StepOutcome {
    case done
    /// More is to be done in the user's next share.
    case unfinished
    /// The job waits for what is done elsewhere, and is in no queue: it is not run again before
    /// ``TaskRuntime/wake(_:for:)``.
    case parked

    /// Done, or unfinished.
    init(isDone: Bool) { self = isDone ? .done : .unfinished }
}

/// How long a job may run before others have their turn.
struct StepBudget {
    let clock: any RuntimeClock
    let end: UInt64

    var isSpent: Bool { clock.now.nanoseconds >= end }
}

/// The jobs of one user, and what the user has taken of the turn.
struct StepQueue {
    var jobs: Deque<any StepJob> = []
    /// Sessions whose output waits for the user's next share.
    var unwritten: Deque<Session> = []
    /// Whether the server knows that there are jobs.
    var isAnnounced = false
    /// Whether a job runs: what it begins waits behind it.
    var isRunning = false
    /// The turn of ``spentNanoseconds``.
    var turn: UInt64 = 0
    var spentNanoseconds: UInt64 = 0

    /// What is left of the share in a turn.
    mutating func remaining(of share: UInt64, in turn: UInt64) -> UInt64 {
        if self.turn != turn {
            self.turn = turn
            spentNanoseconds = 0
        }
        return share > spentNanoseconds ? share - spentNanoseconds : 0
    }
}

extension TaskRuntime {
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
        announceSteps(of: account)
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
        if session.waitingJobs == 0 { session.transport?.inputMayGoOn() }
        if isDraining { noteDrainProgress() }
    }

    /// Runs a job for what is left of the user's share, where no other one comes first.
    private func runShare(of account: UserAccount, _ job: any StepJob) -> StepOutcome {
        guard account.steps.jobs.isEmpty, !account.steps.isRunning else { return .unfinished }
        let left = account.steps.remaining(of: turnShare(), in: turnNumber)
        return left > 0 ? run(job, of: account, forNanoseconds: left) : .unfinished
    }

    private func run(_ job: any StepJob, of account: UserAccount, forNanoseconds share: UInt64) -> StepOutcome {
        let start = clock.now.nanoseconds
        account.steps.isRunning = true
        let outcome = job.step(self, until: StepBudget(clock: clock, end: start &+ share))
        account.steps.isRunning = false
        _ = account.steps.remaining(of: 0, in: turnNumber)
        account.steps.spentNanoseconds &+= clock.now.nanoseconds &- start
        return outcome
    }

    private func announceSteps(of account: UserAccount) {
        guard !account.steps.isAnnounced, let onSteps else { return }
        account.steps.isAnnounced = true
        onSteps(account)
    }

    /// Goes on with the jobs of a user, in their order. To be called for each account that ``onSteps`` was called with,
    /// turn by turn, until it returns false.
    ///
    /// - Returns: whether jobs are left.
    public func runSteps(of account: UserAccount, forNanoseconds share: UInt64) -> Bool {
        noteStep(.job, uid: account.uid)
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
