// TaskRuntime: what happens to a call between the line that asks for it and the callback that ends it. No sockets, no
// clock of its own, no threads: messages and moments are handed in, output is left in each session's buffer.
//
//   Sessions/    who is connected
//   Steps/       work that is cut into steps, so that users share the loop
//   Policy/      who may do what
//   Quotas/      how much a user may take
//   Routing/     tasks and who provides them: plugins (through their hosts) and clients
//   Calls/       every call in flight; the only place where one ends
//   Interceptors/ plugins that are asked before a call goes to its task
//   Events/      subscriptions and delivery
//   Launch/      startup work, in order
//   BridgeTasks/ the tasks that the daemon itself provides
//   Monitoring/  traffic as it passes, for operators who watch
//   Statistics/  counters, histograms, and their text for monitoring systems
//
// Everything is confined to the thread that owns the runtime, in service the loop thread: none of it is Sendable, so
// that the compiler keeps it there. Plugins' metrics alone are set from any thread (Plugins/PluginMetrics.swift).
import BridgeJSON
import BridgeMessage
public import Logging

/// The runtime: sessions in, routing, callbacks out.
///
/// `@exclusivity(unchecked)`, here on what every call touches: one thread uses it, and no access to it lasts while
/// anything else of it is called, so that the checks, a large part of a call's cost, would find nothing.
public final class TaskRuntime {
    /// Bounds that hold for every session.
    @exclusivity(unchecked) public private(set) var limits: RuntimeLimits
    /// Who may do what.
    public internal(set) var policy: Policy
    /// Grows whenever the policy changes.
    var policyRevision: UInt64 = 0
    /// What the daemon says of itself.
    public let daemon: DaemonDescription
    /// Counters.
    public var statistics: RuntimeStatistics { counters }
    /// Startup work.
    public let launch: LaunchRegistry
    /// What sessions, users, plugins and tasks may take. Changed by applying others.
    public internal(set) var quotas: QuotaLimits
    /// Called with each of the loop's measurements that `bridge.status` shows; the server sets it.
    public var loopLag: () -> Duration = { .zero }
    /// Asked to read the configuration again, on behalf of a call that is to be answered with ``answer(_:_:)``; nil:
    /// there is no configuration.
    public var onReload: ((CallHandle) -> Void)?
    /// Asked to load, unload or replace a plugin, in the same way; nil: no one does.
    public var onPluginChange: ((PluginChange, CallHandle) -> Void)?
    /// What the process takes of the machine, for `bridge.metrics`; nil: it is not known. The daemon sets it.
    public var processFigures: () -> ProcessFigures? = { nil }

    /// How long one user may keep the loop in a turn, in nanoseconds; the server sets it.
    public var turnShare: () -> UInt64 = { 1_000_000 }
    /// Called with a user whose jobs wait for ``runSteps(of:forNanoseconds:)``; the server sets it.
    public var onSteps: ((UserAccount) -> Void)?

    package let clock: any RuntimeClock
    /// Where work is done that would keep the loop; nil: it is done at once.
    public let lane: (any WorkLane)?
    let log: Logger
    let startedAt: RuntimeInstant
    @exclusivity(unchecked) private(set) var standardTimeoutNanoseconds: UInt64
    let calls = CallTable()
    @exclusivity(unchecked) var counters = RuntimeStatistics()
    let check = JSONCheck()
    /// What options are checked in against schemas, on the loop.
    let schemaRoom = SchemaRoom()
    let registry = TaskRegistry()
    var sessions = SessionList()
    var lastSessionNumber: UInt64 = 0
    var accounts = UserAccounts()
    /// How often a session may call; nil: as often as it likes.
    var sessionPace: CallPace?
    /// Whether calls are counted by time, for sessions or users.
    @exclusivity(unchecked) var hasPaces = false
    /// Bytes that are held for all users together.
    @exclusivity(unchecked) var queuedBytes = 0
    /// What is held for the descriptions of tasks that clients provide.
    var descriptionBytes = 0
    /// What clients have yet to read, of all sessions together: what the last writing left.
    var unread = UnreadOutput()
    var refusalsByQuota: [QuotaName: UInt64] = [:]
    let subscriptions = Subscriptions()
    var retained = RetainedEvents()
    /// The plugins, in the order in which they were added.
    public internal(set) var plugins: [PluginInstance] = []
    /// Those that get no new calls and finish what they have.
    public internal(set) var leavingPlugins: [PluginInstance] = []
    /// Plugins that could not be used, for `bridge.plugins`.
    public var refusedPlugins: [RefusedPlugin] = []
    /// Where plugins are installed beside those that came with the daemon, for `bridge.plugins`; nil: nowhere.
    public var localPluginDirectory: String?
    /// Those that have something to write. Not retained: see ``forgottenSessions``.
    @exclusivity(unchecked) var dirtySessions: [Unmanaged<Session>] = []
    /// Those whose turn it is to write; empty but within ``writeOutput()``, kept for its memory.
    @exclusivity(unchecked) var writingSessions: [Unmanaged<Session>] = []
    /// Sessions that ended in this turn: they may be among the two above, and on the stack.
    @exclusivity(unchecked) var forgottenSessions: [Session] = []
    /// Grows with each turn of the loop.
    @exclusivity(unchecked) var turnNumber: UInt64 = 1
    /// Calls in flight that clients made.
    @exclusivity(unchecked) var clientCallsInFlight = 0
    /// Whether any session watches the traffic. Read once or twice with each call.
    @exclusivity(unchecked) var isMonitored = false
    var watchers: [TrafficWatcher] = []
    /// What is done at present.
    @exclusivity(unchecked) var step = RuntimeStep()
    var longTurns = LongTurns()
    var lastPluginNumber: UInt64 = 0
    /// Names that were suggested of late to plugins: ``UserAccount/suggestions``.
    var pluginSuggestions = CallRate()
    /// Whether the daemon is stopping.
    @exclusivity(unchecked) var isDraining = false
    var onDrained: (() -> Void)?
    /// What sessions' input waits for: ``Session/waitingJobs`` of all.
    var waitingJobs = 0
    /// Plugins in which calls may begin that waited behind others that have ended. Empty but between two ends of turns.
    @exclusivity(unchecked) var instancesToAdmit: [PluginInstance] = []
    @exclusivity(unchecked) private var armedFor = RuntimeInstant.never
    /// The clock as it was last read, and whether that was while the input at hand was being taken in.
    @exclusivity(unchecked) private(set) var lastReading = RuntimeInstant(nanoseconds: 0)
    @exclusivity(unchecked) private var hasReading = false
    @exclusivity(unchecked) private var inputStart = RuntimeInstant(nanoseconds: 0)
    @exclusivity(unchecked) private var isTakingInput = false

    /// A runtime with the daemon's own tasks and nothing else.
    ///
    /// - Parameter lane: Where work is done that would keep the loop; nil: it is done at once.
    public init(
        limits: RuntimeLimits, quotas: QuotaLimits = QuotaLimits(), policy: Policy, daemon: DaemonDescription,
        clock: any RuntimeClock, lane: (any WorkLane)? = nil, log: Logger
    ) {
        self.limits = limits
        self.quotas = quotas
        standardTimeoutNanoseconds = limits.callTimeout.wholeNanoseconds
        self.policy = policy
        self.daemon = daemon
        self.clock = clock
        self.lane = lane
        self.log = log
        startedAt = clock.now
        launch = LaunchRegistry { clock.now }
        registry.setMeters(CallMeters(quotas))
        notePaces()
        addBridgeTasks()
    }

    /// Goes by other bounds from now on, for living sessions too. Calls in flight keep their deadlines.
    public func apply(_ limits: RuntimeLimits) {
        self.limits = limits
        standardTimeoutNanoseconds = limits.callTimeout.wholeNanoseconds
    }

    // MARK: Time

    /// Calls in flight that clients made: what draining waits for.
    public var callsInFlight: Int { clientCallsInFlight }

    /// Calls since the start, no matter who made them.
    public var callsBegun: UInt64 { calls.begunCount }

    /// Who is connected, in number.
    public var sessionCount: Int { sessions.count }

    /// Messages follow, one right after the other, until ``endInput()``. The clock is read once for each call then:
    /// when it ends, and so when the next one begins.
    public func beginInput() {
        isTakingInput = true
        hasReading = false
    }

    /// How long the calls of the input at hand have taken so far.
    public var inputNanoseconds: UInt64 { hasReading ? lastReading.nanoseconds &- inputStart.nanoseconds : 0 }

    /// The input at hand has been taken in.
    public func endInput() { isTakingInput = false }

    /// A message that is no call has been handled, or a part of a long line: it counts for ``inputNanoseconds`` too.
    public func noteInputTime() {
        if isTakingInput { _ = readClock() }
    }

    /// When a call that comes now begins.
    var callTime: RuntimeInstant {
        isTakingInput && hasReading ? lastReading : readClock()
    }

    /// What is left to a call whose work begins now, in nanoseconds; nil: it has no deadline.
    public func nanosecondsLeft(to call: Call) -> UInt64? {
        guard call.deadline != .never else { return nil }
        let now = callTime
        return now < call.deadline ? call.deadline.nanoseconds - now.nanoseconds : 0
    }

    @inline(__always)
    func readClock() -> RuntimeInstant {
        lastReading = clock.now
        if !hasReading {
            hasReading = true
            inputStart = lastReading
        }
        return lastReading
    }

    /// Ends calls whose deadline has come, for a share of a turn; the clock wakes again at once for the rest. To be
    /// called when the clock was asked to wake.
    public func expire() {
        armedFor = .never
        noteStep(.deadlines)
        let now = clock.now
        let end = now.advanced(byNanoseconds: Self.expiringNanoseconds)
        while clock.now < end, let call = calls.popExpired(at: now) {
            let error = BridgeError(
                .callTimeout, "\(whoIsLate(with: call)) before the call's deadline", isTransient: true)
            abort(call, error, reason: .timeout)
        }
        armClock()
    }

    /// Calls of all users expire together: this is how long they keep the loop.
    private static var expiringNanoseconds: UInt64 { 200_000 }

    /// Has the clock wake for the earliest deadline. Where it wakes earlier than that, for a call that has ended
    /// meanwhile, it is left so: most calls end long before their deadline, and the clock would be set with each of
    /// them.
    func armClock() {
        let earliest = calls.deadlines.earliest
        guard earliest < armedFor else { return }
        armedFor = earliest
        clock.wake(at: earliest)
    }

    // MARK: Memory

    /// Frees what is held in reserve for more calls than there are. To be called between turns of the loop.
    public func trimMemory() { calls.trimMemory() }

    // MARK: Checks

    /// Why bytes are not one JSON value, as the end of a sentence; nil where they are.
    public func fault(in bytes: UnsafeRawBufferPointer) -> String? { check.fault(in: bytes) }
}

/// What the daemon says of itself in `bridge.hello` and `bridge.status`.
public struct DaemonDescription: Sendable {
    /// The protocol's version.
    public static let protocolVersion = 1

    /// The daemon's version, such as "0.1.0".
    public var version: String
    /// Its process id.
    public var pid: Int32

    /// A description.
    public init(version: String, pid: Int32) {
        self.version = version
        self.pid = pid
    }
}
