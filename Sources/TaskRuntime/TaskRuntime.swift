// TaskRuntime: what happens to a call between the line that asks for it and the callback that ends it. No sockets, no
// clock of its own, no threads: messages and moments are handed in, output is left in each session's buffer.
//
// The runtime consists of components, each a folder with private state. Each uses the components above it in this list,
// never those below:
//
//   Launch/      startup work, in order
//   Policy/      rules, and what they decide
//   Model/       the state that components share: sessions, users' accounts, calls, tasks, patterns of events
//   Turns/       what the loop does in a turn: the clock, users' shares, turns that took too long
//   Sessions/    who is connected
//   Gate/        who may do what, and how much a user may take
//   Tasks/       which tasks there are
//   Output/      what sessions are sent
//   Monitoring/  traffic as it passes, for operators who watch
//   Events/      subscriptions, and retained events
//   Calls/       every call in flight, its way through interceptors, and the only place where one ends
//   Streams/     bytes of any size from one caller to another
//   Clients/     tasks that clients provide
//   Plugins/     plugins, and the calls that wait for them
//   Lifecycle/   sessions from their first byte to their last, and from one daemon to the next
//   Routing/     messages of clients
//   BridgeTasks/ the tasks that the daemon itself provides
//
// Everything is confined to the thread that owns the runtime, in service the loop thread: none of it is Sendable, so
// that the compiler keeps it there. Plugins' metrics alone are set from any thread (Plugins/PluginMetrics.swift).
import BridgeJSON
public import LaunchWorkers
public import Logging

/// The runtime: sessions in, routing, callbacks out. It puts the components together and has no logic of its own.
public final class TaskRuntime {
    /// What the daemon says of itself.
    public let daemon: DaemonDescription
    /// Startup work.
    public let launch: LaunchRegistry<LaunchPhase>
    /// Called with each of the loop's measurements that `bridge.status` shows; the server sets it.
    public var loopLag: () -> Duration = { .zero }
    /// Asked to read the configuration again, on behalf of a call that is to be answered with ``answer(_:_:)``; nil:
    /// there is no configuration.
    public var onReload: ((CallHandle) -> Void)?
    /// Asked to load, unload or replace a plugin, in the same way; nil: no one does.
    public var onPluginChange: ((PluginChange, CallHandle) -> Void)?
    /// What the process takes of the machine, for `bridge.metrics`; nil: it is not known. The daemon sets it.
    public var processMetrics: () -> ProcessMetrics? = { nil }
    /// Makes the pipes of streams; nil: there are none. The server sets it.
    package var makePipe: StreamPipeMaker? {
        get { streams.pipes.make }
        set { streams.pipes.make = newValue }
    }
    /// Plugins that could not be used, for `bridge.plugins`.
    public var refusedPlugins: [RefusedPlugin] = []
    /// Where plugins are installed beside those that came with the daemon, for `bridge.plugins`; nil: nowhere.
    public var localPluginDirectory: String?

    let rooms: RuntimeRooms
    let calls: CallEngine
    let streams: StreamTable
    let clients: ClientTasks
    let suggestions: TaskSuggestions
    let directory: PluginDirectory
    let lifecycle: SessionLifecycle
    let router: Router
    let startedAt: RuntimeInstant

    var rights: Rights { rooms.rights }
    var quotas: Quotas { rooms.quotas }
    var tasks: TaskRegistry { rooms.tasks }
    var events: EventBus { rooms.events }
    var monitor: TrafficMonitor { rooms.monitor }
    var turns: LoopTurns { rooms.turns }
    var log: Logger { rooms.log }
    package var clock: any RuntimeClock { rooms.clock }

    /// A runtime with the daemon's own tasks and nothing else.
    ///
    /// - Parameter lane: Where work is done that would keep the loop; nil: it is done immediately.
    public init(
        limits: RuntimeLimits, quotas: QuotaLimits = QuotaLimits(), policy: Policy, daemon: DaemonDescription,
        clock: any RuntimeClock, lane: (any WorkLane)? = nil, log: Logger
    ) {
        self.daemon = daemon
        rooms = RuntimeRooms(limits, quotas, policy, clock, log)
        calls = CallEngine(rooms, lane: lane)
        streams = StreamTable(rooms, calls)
        clients = ClientTasks(calls)
        suggestions = TaskSuggestions(rooms.tasks, rooms.rights, clock)
        directory = PluginDirectory(rooms, suggestions, calls, streams)
        lifecycle = SessionLifecycle(rooms, calls, streams, clients, directory)
        router = Router(rooms, suggestions, calls)
        startedAt = clock.now
        launch = LaunchRegistry { .nanoseconds(clock.now.nanoseconds) }
        addBridgeTasks()
    }

    // MARK: Settings

    /// Bounds that hold for every session.
    public var limits: RuntimeLimits { quotas.limits }
    /// The bound of ``limits`` that is asked for with each line: all of them are copied for who wants one.
    public var maximumUnreadBytes: Int { quotas.limits.unreadBytes }
    /// Who may do what.
    public var policy: Policy { rights.policy }

    /// Goes by other bounds from now on, for living sessions too. Calls in flight keep their deadlines.
    public func apply(_ limits: RuntimeLimits) {
        quotas.apply(limits)
        calls.applyLimits()
    }

    /// Goes by other quotas from now on, for living sessions too. What has been taken stays taken; rates begin again.
    public func apply(_ values: QuotaLimits) {
        if quotas.apply(values) { tasks.setMeters(CallMeters(values)) }
    }

    /// Goes by other rules from now on, for living sessions too. Calls in flight go on.
    public func apply(_ policy: Policy) {
        rights.apply(policy)
        directory.updateMarks()
    }

    // MARK: Figures

    /// Counters.
    public var statistics: RuntimeStatistics { rooms.counters.values }
    /// Calls in flight that clients made: what draining waits for.
    public var callsInFlight: Int { calls.clientCallCount }
    /// Calls since the start, no matter who made them.
    public var callsBegun: UInt64 { calls.begunCount }
    /// Who is connected, in number.
    public var sessionCount: Int { rooms.sessions.count }
    /// The tasks that can be called now, and what they take.
    public var ownPermissions: [(task: String, permission: String)] {
        tasks.all.filter { !$0.isInternal }.map { (task: $0.name, permission: $0.description.permission) }
    }

    // MARK: Turns

    /// Messages follow, one right after the other, until ``endInput()``. The clock is read once for each call then:
    /// when it ends, and so when the next one begins.
    public func beginInput() { rooms.time.beginInput() }
    /// The input at hand has been taken in.
    public func endInput() { rooms.time.endInput() }
    /// How long the calls of the input at hand have taken so far.
    public var inputNanoseconds: UInt64 { rooms.time.inputNanoseconds }
    /// A message that is no call has been handled, or a part of a long line: it counts for ``inputNanoseconds`` too.
    public func noteInputTime() { rooms.time.noteInputTime() }

    /// How long one user may keep the loop in a turn, in nanoseconds; the server sets it.
    public var turnShare: () -> UInt64 {
        get { rooms.steps.share }
        set { rooms.steps.share = newValue }
    }
    /// Called with a user whose jobs wait for ``runSteps(of:forNanoseconds:)``; the server sets it.
    public var onSteps: ((UserAccount) -> Void)? {
        get { rooms.steps.onJobs }
        set { rooms.steps.onJobs = newValue }
    }
    /// Goes on with the jobs of a user, in their order. To be called for each account that ``onSteps`` was called with,
    /// turn by turn, until it returns false.
    ///
    /// - Returns: whether jobs are left.
    public func runSteps(of account: UserAccount, forNanoseconds share: UInt64) -> Bool {
        rooms.steps.run(of: account, forNanoseconds: share)
    }

    /// Notes that a session has something to write, or to be closed, at the end of this turn.
    public func markDirty(_ session: Session) { rooms.output.markDirty(session) }
    /// Has every session that has something to write do so. To be called at the end of each turn of the loop.
    public func writeOutput() {
        turns.endTurn()
        calls.admitBehindEnded()
        rooms.output.write()
        if monitor.isWatched { monitor.endTurn() }
    }

    /// Ends calls whose deadline has come, for a share of a turn, and looks at streams and at plugins that are waited
    /// for; the clock wakes again immediately for the rest. To be called when the clock was asked to wake.
    public func expire() {
        rooms.alarm.rang()
        calls.expire()
        streams.expire()
        directory.expire()
    }
    /// Frees what is held in reserve for more calls than there are. To be called between turns of the loop.
    public func trimMemory() { calls.trimMemory() }

    // MARK: The end

    /// From now on no call and no stream is begun; calls in flight and streams that move go on. `done` is called once
    /// none of them is left, nor anything that they have begun for their sessions, such as retained events on their
    /// way: immediately where there is none.
    public func drain(_ done: @escaping () -> Void) {
        var unfinished = 2
        let finish = {
            unfinished -= 1
            if unfinished == 0 { done() }
        }
        calls.drain(finish)
        streams.drain(finish)
    }
    /// The time for draining is over: streams end, and calls that are still in flight end with `daemon.stopping`,
    /// within a share of each turn.
    public func endCallsInFlight() {
        streams.endAll()
        calls.endCallsInFlight()
    }
}
