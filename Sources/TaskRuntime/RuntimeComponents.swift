import Logging

/// The components of the runtime that calls depend on. Each component uses those before it and none after it.
struct RuntimeComponents {
    let clock: any RuntimeClock
    let log: Logger
    let counters = RuntimeCounters()
    /// The work of the loop in a turn, and the users' shares of it.
    let turns: LoopTurns
    let steps: StepScheduler
    /// The clock that calls use.
    let time: CallClock
    /// The time of the next wake of the runtime.
    let alarm: Alarm
    /// The connected sessions.
    let sessions: SessionStore
    /// The rights of clients and the quotas of users.
    let gate: PolicyGate
    /// The existing tasks.
    let tasks: TaskRegistry
    /// The output to sessions.
    let output: SessionOutput
    let delivery: EventDelivery
    /// The traffic, for the sessions that watch it.
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
        turns = LoopTurns()
        time = CallClock(clock, turns)
        alarm = Alarm(clock)
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
        events = EventBus(sessions, gate, output, delivery, monitor, steps)
    }
}
