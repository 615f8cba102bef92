import EventLoop
import TaskRuntime

/// The runtime's jobs of one user in the user's queue, or those for one plugin, which takes turns like a user.
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

    private var user: FairUser {
        scheduler.user(account.pluginNumber.map(FairUser.Name.plugin) ?? .uid(account.uid))
    }

    /// Queues the jobs ahead of the user's input, which waits until they are done.
    func wait() { scheduler.waitFirst(self, of: user) }

    func takeTurn() {
        if runtime.runSteps(of: account, forNanoseconds: scheduler.share(of: user)) { wait() }
    }
}
