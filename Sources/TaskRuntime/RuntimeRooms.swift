import Logging

/// The components of the runtime that calls rest on. Each gets those before it, and knows none after it.
struct RuntimeRooms {
    let clock: any RuntimeClock
    let log: Logger
    let counters = RuntimeCounters()
    /// The clock as calls see it.
    let time: CallClock
    /// When the runtime is to be woken.
    let alarm: Alarm
    /// What the loop does in a turn, and users' shares of it.
    let turns: LoopTurns
    let steps: StepScheduler
    /// Who is connected.
    let sessions: SessionStore
    /// Who may do what, and how much a user may take.
    let gate: PolicyGate
    /// Which tasks there are.
    let tasks: TaskRegistry
    /// What sessions are sent.
    let output: SessionOutput
    let delivery: EventDelivery
    /// Traffic as it passes, for those who watch.
    let monitor: TrafficMonitor
    /// Subscriptions, retained events, and delivery.
    let events: EventBus

    var rights: Rights { gate.rights }
    var quotas: Quotas { gate.quotas }

    init(
        _ limits: RuntimeLimits, _ quotaLimits: QuotaLimits, _ policy: Policy, _ clock: any RuntimeClock, _ log: Logger
    ) {
        self.clock = clock
        self.log = log
        time = CallClock(clock)
        alarm = Alarm(clock)
        turns = LoopTurns()
        steps = StepScheduler(clock, turns)
        sessions = SessionStore()
        let rights = Rights(policy, sessions)
        let quotas = Quotas(limits, quotaLimits, sessions, rights, time, clock, log)
        gate = PolicyGate(rights, quotas)
        tasks = TaskRegistry()
        tasks.setMeters(CallMeters(quotaLimits))
        output = SessionOutput(quotas, clock, turns, steps)
        delivery = EventDelivery(output, quotas, counters)
        monitor = TrafficMonitor(time, tasks, rights, delivery)
        events = EventBus(sessions, gate, output, delivery, monitor)
    }
}
