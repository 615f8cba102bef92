import EventLoop
import TaskRuntime

/// The runtime's jobs of one user, in the user's queue.
@LoopActor
final class StepTurns: FairScheduler.Work {
    private let runtime: TaskRuntime
    private let account: UserAccount
    private let scheduler: FairScheduler

    init(_ runtime: TaskRuntime, _ account: UserAccount, _ scheduler: FairScheduler) {
        self.runtime = runtime
        self.account = account
        self.scheduler = scheduler
    }

    /// Ahead of the user's input, which waits until the jobs are done.
    func wait() { scheduler.waitFirst(self, of: scheduler.user(.uid(account.uid))) }

    func takeTurn() {
        if runtime.runSteps(of: account, forNanoseconds: scheduler.share) { wait() }
    }
}
