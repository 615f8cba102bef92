import DequeModule

/// Work whose size a client decides, cut into steps: the end of a session, output to many sessions, a registration.
///
/// A job runs immediately as far as its user's share of the turn goes. The rest waits in the user's queue, before the
/// user's input (``StepScheduler/run(of:forNanoseconds:)``). Loop thread only.
protocol StepJob: AnyObject {
    /// The session whose further input waits for the end of the job; nil: no input waits.
    var session: Session? { get }
    /// Goes on until the budget is spent or the job is done, but always by one step.
    func step(until budget: StepBudget) -> StepOutcome
}

/// What has become of a job at the end of a step.
enum StepOutcome {
    case done
    /// More is to be done in the user's next share.
    case unfinished
    /// The job waits for what is done elsewhere, and is in no queue: it is not run again before
    /// ``StepScheduler/wake(_:for:)``.
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
