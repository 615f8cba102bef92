import BridgeJSON
import BridgeMessage
import Logging

/// Calls in flight: how they begin, pass through interceptors to their tasks, and end. Only this class ends calls.
/// Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class CallEngine {
    private let table = CallTable()
    /// The number of calls in flight that clients made.
    @exclusivity(unchecked) private(set) var clientCallCount = 0
    /// Whether the daemon is stopping.
    @exclusivity(unchecked) private(set) var isDraining = false
    private var onDrained: (() -> Void)?
    @exclusivity(unchecked) private var standardTimeoutNanoseconds: UInt64
    /// The plugins whose waiting calls may begin because calls before them have ended. Emptied at the end of each turn.
    @exclusivity(unchecked) private var queuesToAdmit: [any QueueingProvider] = []
    let time: CallClock
    let turns: LoopTurns
    let steps: StepScheduler
    private let alarm: Alarm
    let rights: Rights
    let quotas: Quotas
    let output: SessionOutput
    let tasks: TaskRegistry
    let monitor: TrafficMonitor
    let events: EventBus
    let counters: RuntimeCounters
    let clock: any RuntimeClock
    /// The lane for work that would block the loop; `nil` if such work is done immediately.
    let lane: (any WorkLane)?
    let log: Logger
    let check = JSONCheck()
    /// Called with the streams that were made for a call that ended with an error.
    var onFailure: (([StreamName], BridgeError) -> Void)?
    /// The working memory for checking options against schemas on the loop.
    let schemaRoom = SchemaRoom()

    init(_ components: RuntimeComponents, lane: (any WorkLane)?) {
        time = components.time
        turns = components.turns
        steps = components.steps
        alarm = components.alarm
        rights = components.rights
        quotas = components.quotas
        output = components.output
        tasks = components.tasks
        monitor = components.monitor
        events = components.events
        counters = components.counters
        clock = components.clock
        log = components.log
        self.lane = lane
        standardTimeoutNanoseconds = components.quotas.limits.callTimeout.wholeNanoseconds
        steps.onRelease = { [unowned self] in if isDraining { noteDrainProgress() } }
    }

    // MARK: Calls in flight

    /// The number of calls in flight.
    var count: Int { table.count }
    /// The number of calls that have begun since the start.
    var begunCount: UInt64 { table.begunCount }
    /// The number of records, in use or not.
    var recordCount: Int { table.recordCount }
    /// The number of active deadlines, and of stored ones, including those of ended calls.
    var deadlines: (count: Int, keptCount: Int) { (table.deadlines.count, table.deadlines.entryCount) }

    /// Returns the call of a handle while it is in flight.
    @inline(__always)
    func call(_ handle: CallHandle) -> Call? { table.call(handle) }

    /// Returns the call in flight with this number.
    func call(numbered number: UInt64) -> Call? { table.call(numbered: number) }

    /// Returns the call that a session works on under this id.
    func call(_ id: UInt64, of session: Session) -> Call? { table.call(id, of: session) }

    /// Returns the oldest call in flight with a greater number.
    func next(after number: UInt64) -> Call? { table.next(after: number) }

    /// Returns the calls in flight with greater numbers, the oldest first. Valid until a call begins or ends.
    func inFlight(after number: UInt64) -> some Sequence<Call> { table.inFlight(after: number) }

    /// A copy of all calls in flight: the code that iterates over it may end calls.
    var inFlight: [Call] { table.inFlight }

    /// Returns the oldest call in flight that a session made.
    func first(madeBy session: Session) -> Call? { table.first(madeBy: session) }

    /// Enters a call that a session makes.
    @inline(__always)
    func begin(_ request: CallRequest, by session: Session) -> Call {
        let call = table.begin(request)
        session.callsInFlight += 1
        session.unownedAccount._withUnsafeGuaranteedRef { $0.callsInFlight += 1 }
        session.callsMade &+= 1
        clientCallCount += 1
        return call
    }

    /// Enters a call of a plugin, or of the daemon itself.
    func begin(_ request: CallRequest) -> Call { table.begin(request) }

    /// Records that a session now works on the call.
    ///
    /// - Returns: The call's id for the session.
    func hand(_ call: Call, to session: Session) -> UInt64 { table.hand(call, to: session) }

    /// Removes a call: from here on no handle and no id refers to it.
    @inline(__always)
    func remove(_ call: Call) {
        table.remove(call)
        guard call.origin == .session, let session = call.record.pointee.session else { return }
        session._withUnsafeGuaranteedRef { session in
            if call.record.pointee.isIndexed { session.index.remove(call) }
            session.callsInFlight -= 1
            session.unownedAccount._withUnsafeGuaranteedRef { $0.callsInFlight -= 1 }
        }
        clientCallCount -= 1
    }

    /// Returns a removed call to the pool.
    @inline(__always)
    func release(_ call: Call) { table.release(call) }

    /// Frees the memory reserved for more calls than are in flight. Called between turns of the loop.
    func trimMemory() { table.trimMemory() }

    // MARK: Calls that wait for a stream

    /// Sets a call aside that waits for a stream, which limits such calls. It does not count among its caller's calls
    /// in flight any more, and the daemon does not wait for it when it stops. If a plugin made it on behalf of another
    /// call, it does not end with that call: the stream may last longer.
    func setAside(_ call: Call, for stream: StreamName) {
        guard call.extras.waitsForStream == nil else { return }
        call.extras.waitsForStream = stream
        countAside(call, 1)
        leaveParent(call)
        call.extras.parent = nil
    }

    /// Counts a call that was set aside like others again, before it leaves the tables.
    func takeBack(_ call: Call) {
        if call.record.pointee.extras?.waitsForStream != nil { countAside(call, -1) }
    }

    private func countAside(_ call: Call, _ count: Int) {
        call.record.pointee.extras?.maker?.ownCallsInFlight -= count
        guard call.origin == .session, let session = call.session else { return }
        session.callsAside += count
        session.callsInFlight -= count
        session.account.callsInFlight -= count
        clientCallCount -= count
        if count > 0, isDraining { noteDrainProgress() }
    }

    // MARK: Deadlines

    /// Applies another timeout for calls that specify none. Calls in flight keep their deadlines.
    func applyLimits() { standardTimeoutNanoseconds = quotas.limits.callTimeout.wholeNanoseconds }

    /// - Parameter milliseconds: The caller's timeout; 0 if it specifies none.
    @inline(__always)
    func deadline(of task: TaskEntry, milliseconds: UInt64, from now: RuntimeInstant) -> RuntimeInstant {
        // A message contains one year at most, far below the limit of 64 bits.
        if milliseconds > 0 { return now.advanced(byNanoseconds: milliseconds &* 1_000_000) }
        return now.advanced(byNanoseconds: task.timeoutNanoseconds ?? standardTimeoutNanoseconds)
    }

    /// Returns the nanoseconds left to a call whose work begins now; `nil` if it has no deadline.
    @inline(__always)
    func nanosecondsLeft(to call: Call) -> UInt64? {
        guard call.deadline != .never else { return nil }
        let now = time.callTime
        return now < call.deadline ? call.deadline.nanoseconds - now.nanoseconds : 0
    }

    /// Activates the deadline of a call that did not end in the turn in which it arrived.
    @inline(__always)
    func park(_ call: Call) {
        table.enterNewest()
        table.park(call)
        armClock()
    }

    /// Ends calls whose deadline has passed, for a share of a turn; the clock wakes again immediately for the rest.
    func expire() {
        turns.note(.deadlines)
        let now = clock.now
        let end = now.advanced(byNanoseconds: Self.expiringNanoseconds)
        while clock.now < end, let call = table.popExpired(at: now) {
            let error = BridgeError(
                .callTimeout, "\(whoIsLate(with: call)) before the call's deadline", isTransient: true)
            abort(call, error, reason: .timeout)
        }
        armClock()
    }

    /// The maximum time for which expiring calls, of all users together, block the loop.
    private static let expiringNanoseconds: UInt64 = 200_000

    @inline(__always)
    private func armClock() { alarm.wake(by: table.deadlines.earliest) }

    // MARK: Behind calls that have ended

    /// Schedules a plugin's waiting calls for the end of the turn, after calls before them were decided or have ended.
    /// Not immediately, because other calls may be ending at the same time.
    func admitLater(_ queue: any QueueingProvider) {
        if !queuesToAdmit.contains(where: { $0 === queue }) { queuesToAdmit.append(queue) }
    }

    /// Continues the scheduled plugins at the end of the turn.
    @inline(__always)
    func admitBehindEnded() {
        while let queue = queuesToAdmit.popLast() { queue.continueWork() }
    }

    // MARK: The end of the daemon

    /// Stops new calls; calls in flight continue. `done` is called once none of them is left, nor any work that they
    /// have begun for their sessions, such as retained events that are being delivered: immediately if there is none.
    func drain(_ done: @escaping () -> Void) {
        guard !isDraining else { return }
        events.publish("daemon.draining", data: .object([:]))
        isDraining = true
        onDrained = done
        noteDrainProgress()
    }

    /// Ends the calls of clients that are still in flight with `daemon.stopping`, within a share of each turn: the time
    /// for draining has passed.
    func endCallsInFlight() {
        let error = BridgeError(
            .daemonStopping, "the daemon is stopping, and its time limit for open calls has passed", isTransient: true)
        let sweep = CallSweep(self) { [unowned self] call in
            if call.origin == .session { abort(call, error, reason: .shutdown) }
        }
        steps.begin(sweep, for: UserAccount(uid: rights.policy.daemonUID, isTrusted: true, quotas.values))
    }

    func noteDrainProgress() {
        guard let done = onDrained, clientCallCount == 0, steps.waitingJobs == 0 else { return }
        onDrained = nil
        done()
    }
}
