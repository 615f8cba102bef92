// TaskRuntime: the way of a call from the line that requests it to the callback that ends it. It has no sockets, no
// clock of its own and no threads. It receives messages as arguments, reads the clock that it was given, and appends
// output to each session's buffer.
//
// The runtime consists of components, each a folder with private state. Each uses the components above it in this list,
// never those below:
//
//   Launch/      startup work, in order
//   Policy/      rules and their decisions
//   Model/       the state that components share: sessions, users' accounts, calls, tasks, patterns of events
//   Turns/       the work of the loop in a turn: the clock, users' shares, turns that took too long
//   Sessions/    the connected sessions
//   Gate/        the rights of clients and the quotas of users
//   Tasks/       the registered tasks
//   Output/      the output to sessions
//   Monitoring/  the traffic, for operators that watch it
//   Events/      subscriptions, and retained events
//   Calls/       every call in flight, its way through interceptors, and the only place where one ends
//   Streams/     bytes of any size from one caller to another
//   Clients/     tasks that clients provide
//   Plugins/     plugins, and the calls that wait for them
//   Lifecycle/   sessions from their first byte to their last, and their handover to the next daemon
//   Routing/     messages of clients
//   BridgeTasks/ the tasks that the daemon itself provides
//
// Everything is confined to the thread that owns the runtime; in the daemon this is the loop thread. It is not
// Sendable, so the compiler enforces this. Other threads only set plugins' metrics (Plugins/PluginMetrics.swift), and
// check and read values in the lane (Model/Calls/WorkLane.swift).
import BridgeJSON
public import LaunchWorkers
public import Logging

/// The runtime: receives sessions' input, routes calls and sends callbacks. It connects the components and has no logic
/// of its own.
public final class TaskRuntime {
    /// The daemon's description of itself.
    public let daemon: DaemonDescription
    /// Startup work.
    public let launch: LaunchRegistry<LaunchPhase>
    /// Returns the loop's lag, which `bridge.status` shows. The server sets it.
    public var loopLag: () -> Duration = { .zero }
    /// Reads the configuration again for a call, which it answers with ``answer(_:_:)``; `nil` if there is no
    /// configuration.
    public var onReload: ((CallHandle) -> Void)?
    /// Loads, unloads or replaces a plugin for a call, which it answers with ``answer(_:_:)``; `nil` if plugins cannot
    /// change.
    public var onPluginChange: ((PluginChange, CallHandle) -> Void)?
    /// Returns the resource usage of the process, for `bridge.metrics`; `nil` if it is unknown. The daemon sets it.
    public var processMetrics: () -> ProcessMetrics? = { nil }
    /// Makes the pipes of streams; `nil` if streams cannot have pipes. The server sets it.
    package var makePipe: StreamPipeMaker? {
        get { streams.pipes.make }
        set { streams.pipes.make = newValue }
    }
    /// Plugins that could not be used, for `bridge.plugins`.
    public var refusedPlugins: [RefusedPlugin] = []
    /// The directory of plugins installed besides those that came with the daemon, for `bridge.plugins`; `nil` if there
    /// is none.
    public var localPluginDirectory: String?

    let components: RuntimeComponents
    let calls: CallEngine
    let streams: StreamTable
    let clients: ClientTasks
    let suggestions: TaskSuggestions
    let directory: PluginDirectory
    let lifecycle: SessionLifecycle
    let router: Router
    let startedAt: RuntimeInstant

    var rights: Rights { components.rights }
    var quotas: Quotas { components.quotas }
    var tasks: TaskRegistry { components.tasks }
    var events: EventBus { components.events }
    var monitor: TrafficMonitor { components.monitor }
    var turns: LoopTurns { components.turns }
    var log: Logger { components.log }
    package var clock: any RuntimeClock { components.clock }

    /// A runtime with the daemon's own tasks and nothing else.
    ///
    /// - Parameter lane: The lane for work that would occupy the loop; `nil` to do it immediately on the loop.
    public init(
        limits: RuntimeLimits, quotas: QuotaLimits = QuotaLimits(), policy: Policy, daemon: DaemonDescription,
        clock: any RuntimeClock, lane: (any WorkLane)? = nil, log: Logger
    ) {
        self.daemon = daemon
        components = RuntimeComponents(limits, quotas, policy, clock, log)
        calls = CallEngine(components, lane: lane)
        streams = StreamTable(components, calls)
        clients = ClientTasks(calls)
        suggestions = TaskSuggestions(components.tasks, components.rights, clock)
        directory = PluginDirectory(components, suggestions, calls, streams)
        lifecycle = SessionLifecycle(components, calls, streams, clients, directory)
        router = Router(components, suggestions, calls)
        startedAt = clock.now
        launch = LaunchRegistry { .nanoseconds(clock.now.nanoseconds) }
        addBridgeTasks()
    }

    // MARK: Settings

    /// The limits of every session.
    public var limits: RuntimeLimits { quotas.limits }
    /// The one limit of ``limits`` that is read with each line. Reading it through ``limits`` would copy all limits.
    public var maximumUnreadBytes: Int { quotas.limits.unreadBytes }
    /// The rights of clients.
    public var policy: Policy { rights.policy }

    /// Applies new limits, also to existing sessions. Calls in flight keep their deadlines.
    public func apply(_ limits: RuntimeLimits) {
        quotas.apply(limits)
        calls.applyLimits()
    }

    /// Applies new quotas, also to existing sessions. Amounts in use still count; rates start again.
    public func apply(_ values: QuotaLimits) {
        if quotas.apply(values) { tasks.setMeters(CallMeters(values)) }
    }

    /// Applies a new policy, also to existing sessions. Calls in flight continue.
    public func apply(_ policy: Policy) {
        rights.apply(policy)
        directory.updateMarks()
    }

    // MARK: Figures

    /// Counters.
    public var statistics: RuntimeStatistics { components.counters.values }
    /// The number of calls in flight that clients made. Draining waits for them.
    public var callsInFlight: Int { calls.clientCallCount }
    /// The number of calls since the start, of clients, plugins and the daemon.
    public var callsBegun: UInt64 { calls.begunCount }
    /// The number of connected sessions.
    public var sessionCount: Int { components.sessions.count }
    /// The callable tasks and the permissions that they require.
    public var ownPermissions: [(task: String, permission: String)] {
        tasks.all.filter { !$0.isInternal }.map { (task: $0.name, permission: $0.description.permission) }
    }

    // MARK: Turns

    /// Begins a series of messages, which ``endInput()`` ends. Within it the clock is read once for each call: the end
    /// of one call is the beginning of the next.
    public func beginInput() { components.time.beginInput() }
    /// Ends the series of messages that ``beginInput()`` began.
    public func endInput() { components.time.endInput() }
    /// The time that the calls of the current input have taken so far, in nanoseconds.
    public var inputNanoseconds: UInt64 { components.time.inputNanoseconds }
    /// Notes that a message other than a call, or a part of a long line, has been handled. It also counts for
    /// ``inputNanoseconds``.
    public func noteInputTime() { components.time.noteInputTime() }

    /// The time that one user may occupy the loop in a turn, in nanoseconds. The server sets it.
    public var turnShare: () -> UInt64 {
        get { components.steps.share }
        set { components.steps.share = newValue }
    }
    /// Called with the account of a user whose jobs wait for ``runSteps(of:forNanoseconds:)``. The server sets it.
    public var onSteps: ((UserAccount) -> Void)? {
        get { components.steps.onJobs }
        set { components.steps.onJobs = newValue }
    }
    /// Continues the jobs of a user, in their order. The server calls this once a turn for each account that
    /// ``onSteps`` was called with, until it returns false.
    ///
    /// - Returns: Whether jobs are left.
    public func runSteps(of account: UserAccount, forNanoseconds share: UInt64) -> Bool {
        components.steps.run(of: account, forNanoseconds: share)
    }

    /// Notes that a session must be written to, or closed, at the end of this turn.
    public func markDirty(_ session: Session) { components.output.markDirty(session) }
    /// Writes the pending output of all sessions. The server calls this at the end of each turn of the loop.
    public func writeOutput() {
        turns.endTurn()
        calls.admitBehindEnded()
        components.output.write()
        if monitor.isWatched { monitor.endTurn() }
    }

    /// Ends calls whose deadline has passed, within a share of the turn, and checks the streams and the plugins that
    /// are waited for. The clock wakes again immediately for the rest. The owner of the clock calls this at the
    /// requested time.
    public func expire() {
        components.alarm.rang()
        calls.expire()
        streams.expire()
        directory.expire()
    }
    /// Frees memory that is reserved for more calls than exist. The server calls this between turns of the loop.
    public func trimMemory() { calls.trimMemory() }

    // MARK: The end

    /// Refuses new calls and streams; calls in flight and streams that move continue. Calls `done` once none of them is
    /// left, and no work that they began for their sessions, such as the delivery of retained events. This may be
    /// immediately.
    public func drain(_ done: @escaping () -> Void) {
        var unfinished = 2
        let finish = {
            unfinished -= 1
            if unfinished == 0 { done() }
        }
        calls.drain(finish)
        streams.drain(finish)
    }
    /// Ends draining: all streams end, and clients' calls that are still in flight end with `daemon.stopping`, within a
    /// share of each turn.
    public func endCallsInFlight() {
        streams.endAll()
        calls.endCallsInFlight()
    }
}
