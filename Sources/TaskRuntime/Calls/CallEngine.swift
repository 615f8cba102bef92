import BridgeJSON
import BridgeMessage
import Logging

/// Calls in flight: how they begin, go through interceptors to their tasks, and end. The only place where a call ends.
/// Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class CallEngine {
    private let table = CallTable()
    /// Calls in flight that clients made.
    @exclusivity(unchecked) private(set) var clientCallCount = 0
    /// Whether the daemon is stopping.
    @exclusivity(unchecked) private(set) var isDraining = false
    private var onDrained: (() -> Void)?
    @exclusivity(unchecked) private var standardTimeoutNanoseconds: UInt64
    /// Plugins in which calls may begin that waited behind others that have ended. Empty but between two ends of turns.
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
    /// Where work is done that would keep the loop; nil: it is done immediately.
    let lane: (any WorkLane)?
    let log: Logger
    let check = JSONCheck()
    /// Called with the streams that were made for a call that ended with an error.
    var onFailure: (([StreamName], BridgeError) -> Void)?
    /// What options are checked in against schemas, on the loop.
    let schemaRoom = SchemaRoom()

    init(_ rooms: RuntimeRooms, lane: (any WorkLane)?) {
        time = rooms.time
        turns = rooms.turns
        steps = rooms.steps
        alarm = rooms.alarm
        rights = rooms.rights
        quotas = rooms.quotas
        output = rooms.output
        tasks = rooms.tasks
        monitor = rooms.monitor
        events = rooms.events
        counters = rooms.counters
        clock = rooms.clock
        log = rooms.log
        self.lane = lane
        standardTimeoutNanoseconds = rooms.quotas.limits.callTimeout.wholeNanoseconds
        steps.onRelease = { [unowned self] in if isDraining { noteDrainProgress() } }
    }

    // MARK: Calls in flight

    /// How many there are.
    var count: Int { table.count }
    /// How many there have been.
    var begunCount: UInt64 { table.begunCount }
    /// How many records there are, in use or not.
    var recordCount: Int { table.recordCount }
    /// How many deadlines count, and how many are kept, those of ended calls included.
    var deadlines: (count: Int, keptCount: Int) { (table.deadlines.count, table.deadlines.entryCount) }

    /// The call of a handle, while it is in flight.
    @inline(__always)
    func call(_ handle: CallHandle) -> Call? { table.call(handle) }

    /// The call in flight of this number.
    func call(numbered number: UInt64) -> Call? { table.call(numbered: number) }

    /// The call that a session works on under this id.
    func call(_ id: UInt64, of session: Session) -> Call? { table.call(id, of: session) }

    /// The oldest call in flight whose number is greater.
    func next(behind number: UInt64) -> Call? { table.next(behind: number) }

    /// The calls in flight whose numbers are greater, the oldest first. For as long as none begins or ends.
    func inFlight(behind number: UInt64) -> some Sequence<Call> { table.inFlight(behind: number) }

    /// All calls in flight. A copy: the code that goes through it may end calls.
    var inFlight: [Call] { table.inFlight }

    /// The oldest of the calls in flight that a session made.
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

    /// Notes that a session works on the call from now on.
    ///
    /// - Returns: the id for the session.
    func hand(_ call: Call, to session: Session) -> UInt64 { table.hand(call, to: session) }

    /// Takes a call out: from here on no handle and no id leads to it.
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

    /// Gives a removed call back to the stock.
    @inline(__always)
    func release(_ call: Call) { table.release(call) }

    /// Frees what is held in reserve for more calls than there are. To be called between turns of the loop.
    func trimMemory() { table.trimMemory() }

    // MARK: Calls that wait for a stream

    /// The call waits for a stream, which bounds such calls: it no longer counts among those that its caller may have
    /// in flight, the daemon does not wait for it when it stops, and it does not end with the call on whose behalf a
    /// plugin made it: the stream may last longer.
    func setAside(_ call: Call, for stream: StreamName) {
        guard call.extras.waitsForStream == nil else { return }
        call.extras.waitsForStream = stream
        countAside(call, 1)
        leaveParent(call)
        call.extras.parent = nil
    }

    /// The call is about to leave the tables, where it counts as others do.
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

    /// Goes by another timeout for calls that say nothing. Calls in flight keep their deadlines.
    func applyLimits() { standardTimeoutNanoseconds = quotas.limits.callTimeout.wholeNanoseconds }

    /// - Parameter milliseconds: what the caller says; 0: it does not say.
    @inline(__always)
    func deadline(of task: TaskEntry, milliseconds: UInt64, from now: RuntimeInstant) -> RuntimeInstant {
        // A message bears a year at the most, which is far from the bounds of 64 bits.
        if milliseconds > 0 { return now.advanced(byNanoseconds: milliseconds &* 1_000_000) }
        return now.advanced(byNanoseconds: task.timeoutNanoseconds ?? standardTimeoutNanoseconds)
    }

    /// What is left to a call whose work begins now, in nanoseconds; nil: it has no deadline.
    @inline(__always)
    func nanosecondsLeft(to call: Call) -> UInt64? {
        guard call.deadline != .never else { return nil }
        let now = time.callTime
        return now < call.deadline ? call.deadline.nanoseconds - now.nanoseconds : 0
    }

    /// A call did not end in the turn in which it came: from now on its deadline counts.
    @inline(__always)
    func park(_ call: Call) {
        table.enterNewest()
        table.park(call)
        armClock()
    }

    /// Ends calls whose deadline has come, for a share of a turn; the clock wakes again immediately for the rest.
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

    /// Calls of all users expire together: this is how long they keep the loop.
    private static let expiringNanoseconds: UInt64 = 200_000

    @inline(__always)
    private func armClock() { alarm.wake(by: table.deadlines.earliest) }

    // MARK: Behind calls that have ended

    /// Begins at the end of the turn what waited behind calls that were decided otherwise, or have ended: not
    /// immediately, because other calls may be ending in the same breath.
    func admitLater(_ queue: any QueueingProvider) {
        if !queuesToAdmit.contains(where: { $0 === queue }) { queuesToAdmit.append(queue) }
    }

    /// The turn has ended.
    @inline(__always)
    func admitBehindEnded() {
        while let queue = queuesToAdmit.popLast() { queue.continueWork() }
    }

    // MARK: The end of the daemon

    /// From now on no call is begun; calls in flight go on. `done` is called once none of them is left, nor anything
    /// that they have begun for their sessions, such as retained events on their way: immediately where there is none.
    func drain(_ done: @escaping () -> Void) {
        guard !isDraining else { return }
        events.publish("daemon.draining", data: .object([:]))
        isDraining = true
        onDrained = done
        noteDrainProgress()
    }

    /// The time for draining is over: calls that are still in flight end with `daemon.stopping`, within a share of each
    /// turn.
    func endCallsInFlight() {
        let error = BridgeError(
            .daemonStopping, "the daemon is stopping and waited as long as it may", isTransient: true)
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
