import DequeModule

/// Work whose size depends on a client, divided into steps: the end of a session, output to many sessions, a
/// registration.
///
/// A job runs immediately within its user's share of the turn. The rest waits in the user's queue, before the user's
/// input (``StepScheduler/run(of:forNanoseconds:)``). Loop thread only.
protocol StepJob: AnyObject {
    /// The session whose further input waits for the end of the job; `nil` if no input waits.
    var session: Session? { get }
    /// Continues until the budget is spent or the job is done, but for at least one step.
    func step(until budget: StepBudget) -> StepOutcome
}

/// The state of a job at the end of a step.
enum StepOutcome {
    case done
    /// The job continues in the user's next share.
    case unfinished
    /// The job waits for work done elsewhere and is in no queue: it does not run again before
    /// ``StepScheduler/wake(_:for:)``.
    case parked

    /// Creates `done` or `unfinished`.
    init(isDone: Bool) { self = isDone ? .done : .unfinished }
}

/// The time for which a job may run before others have their turn.
struct StepBudget {
    let clock: any RuntimeClock
    let end: UInt64

    var isSpent: Bool { clock.now.nanoseconds >= end }
}

/// The jobs of one user, and the user's consumption of the turn.
struct StepQueue {
    var jobs: Deque<any StepJob> = []
    /// Sessions whose output waits for the user's next share.
    var unwritten: Deque<Session> = []
    /// Whether the server has been notified of jobs.
    var isAnnounced = false
    /// Whether a job is running: jobs that it begins wait behind it.
    var isRunning = false
    /// The turn in which ``spentNanoseconds`` was spent.
    var turn: UInt64 = 0
    var spentNanoseconds: UInt64 = 0

    /// Returns the rest of the share in a turn.
    mutating func remaining(of share: UInt64, in turn: UInt64) -> UInt64 {
        if self.turn != turn {
            self.turn = turn
            spentNanoseconds = 0
        }
        return share > spentNanoseconds ? share - spentNanoseconds : 0
    }
}
