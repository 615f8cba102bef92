import Synchronization
import TaskKit

/// The interface of the store for the tasks. It takes calls and executes each on its lane's thread, in the order that
/// `CallQueues` keeps.
///
/// Any thread.
final class StoreQueue: Sendable {
    /// Runs jobs one after the other, in order, on a lane's thread, which may block.
    typealias Scheduler = @Sendable (_ lane: StoreLane, _ job: @escaping @Sendable () -> Void) -> Void

    /// Runs the argument once all calls that arrived together have been submitted. Does not wait for later calls.
    typealias Gatherer = @Sendable (@escaping @Sendable () -> Void) -> Void

    private struct State {
        var queues = CallQueues()
        /// Whether calls are accepted.
        var isOpen = false
        /// Sessions that may have watches. When another session closes, the lane of commits has no work.
        var watchers: Set<SessionID> = []
        /// The error with which calls of tasks are answered if the database is damaged; otherwise `nil`.
        var damage: BridgeError?
        /// Resumed when the last call is finished; `nil` if the store is not closing.
        var whenIdle: CheckedContinuation<Void, Never>?
        /// The metric for the number of calls.
        var callsGauge = Gauge()
    }

    private let state = Mutex(State())
    // Each mutex is held for one batch, and the jobs of a lane do not overlap. A job waits for it only while the
    // database is replaced.
    let commits: Mutex<StoreEngine>
    let reads: Mutex<ReadEngine>
    let queries: Mutex<QueryEngine>
    /// Whether replays wait until the storage works again.
    private let hasStalledReplays = Atomic<Bool>(false)
    let lateCheck = LateCheck()
    /// Whether there is a `damage`; read for each call.
    private let isDamaged = Atomic(false)
    private let schedule: Scheduler
    private let gather: Gatherer
    private let clock: Slice.Clock
    private let maximumLogBytes: Int
    /// The length of the log above which it is emptied. Only for the thread of the lane of commits.
    private let nextLogBytes: Atomic<Int>

    /// - Parameters:
    ///   - gather: The default runs its argument immediately. A lane may then finish the first call before a second one
    ///     that arrived with it.
    ///   - clock: The clock for the slices.
    ///   - maximumLogBytes: The length to which the log may grow while queries read an earlier state.
    init(
        sink: any StoreSink, gather: @escaping Gatherer = { $0() }, clock: @escaping Slice.Clock = Slice.monotonic,
        maximumLogBytes: Int = Limits.logBytes, schedule: @escaping Scheduler
    ) {
        commits = Mutex(StoreEngine(sink: sink))
        reads = Mutex(ReadEngine(sink: sink))
        queries = Mutex(QueryEngine(sink: sink))
        nextLogBytes = Atomic(maximumLogBytes)
        self.maximumLogBytes = maximumLogBytes
        self.schedule = schedule
        self.gather = gather
        self.clock = clock
    }

    /// Queues a call of a task, unless the database is known to be damaged: `submit(_:)`.
    func take(_ call: any StoreCall) {
        if isDamaged.load(ordering: .relaxed), let damage = state.withLock({ $0.damage }) {
            return call.answer(.failure(damage))
        }
        submit(call)
    }

    /// Queues a call. Its position in its session's order is that of the call of this method. If too much of the
    /// session waits, the answer is `busy`.
    func submit(_ call: any StoreCall) {
        let admission = state.withLock { state in
            defer { state.callsGauge.set(state.queues.count) }
            if call.mayWatch { state.watchers.insert(call.session) }
            return state.isOpen ? state.queues.admit(call) : nil
        }
        switch admission {
        case .first:
            // A lane is woken once for all calls that the loop has read, and executes them as one batch. Waking it for
            // the first call alone costs more than a read, and would commit one call where it could commit many.
            let lane = call.lane
            gather { self.wake(lane) }
        case .queued: break
        case .refused: call.answer(.failure(.tooMuchWaits))
        case nil: call.answer(.failure(.storeNotOpen))
        }
    }

    private func wake(_ lane: StoreLane) { schedule(lane) { self.drain(lane) } }

    // MARK: Opening and closing

    /// Opens the database, creates or migrates it as needed, and checks it. If the time runs out, the rest is checked
    /// while the database is in use. If that check finds damage, this is logged, and calls of tasks are refused.
    ///
    /// - Parameter check: Fires when there is no more time for the check.
    /// - Throws: `storage.failed`, `storage.full`, with a message for the operator.
    func open(_ settings: StoreEngine.Settings, check: Interruption = Interruption()) async throws {
        // All on one thread: the threads of the other lanes start with their first calls.
        let isChecked = try await performOnCommits {
            let isChecked = try self.commits.withLock { try $0.open(settings, check: check) }
            self.reads.withLock {
                $0.open(settings)
                $0.holdIndex()
            }
            self.queries.withLock { $0.open(settings) }
            return isChecked
        }
        note(nil)
        if !isChecked { checkLater(settings) }
        state.withLock { state in
            state.isOpen = true
            state.callsGauge = settings.metrics.calls
        }
    }

    private func checkLater(_ settings: StoreEngine.Settings) {
        settings.log("the database \(settings.file.path) is large: the rest of it is checked while it is in use")
        lateCheck.begin(settings.file) { [weak self] finding in
            switch finding {
            case .sound: settings.log("the database \(settings.file.path) was checked and is sound")
            case .damaged(let error):
                settings.log("\(error.message); all calls are refused until then")
                self?.note(.storeDamaged)
            case .unknown(let error): settings.log("\(error.message); the rest of it is checked at the next start")
            case .interrupted: break
            }
        }
    }

    /// Refuses calls of tasks from now on; `nil` accepts them again, because the database was replaced.
    func note(_ damage: BridgeError?) {
        state.withLock { $0.damage = damage }
        isDamaged.store(damage != nil, ordering: .relaxed)
    }

    /// Executes the calls submitted before, then closes the database. Calls submitted later are refused.
    func close() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isOpen = false
                if state.queues.count > 0 { state.whenIdle = continuation }
                return state.queues.count == 0
            }
            if isIdle { continuation.resume() }
        }
        // No lane has work left. The writing connection is the last one: it leaves an empty log.
        try? await performOnCommits {
            self.lateCheck.stop()
            self.reads.withLock { $0.close() }
            self.queries.withLock { $0.close() }
            self.commits.withLock { $0.close() }
        }
    }

    private func performOnCommits<T: Sendable>(_ job: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            schedule(.commits) { continuation.resume(with: Result { try job() }) }
        }
    }

    /// Runs `body` with the store between two batches, independent of any call.
    func withAccess<T: Sendable>(_ body: @escaping @Sendable (StoreAccess) throws -> T) async throws -> T {
        try await performOnCommits { try self.commits.withLock { try $0.withAccess(body) } }
    }

    // MARK: Watches

    /// Ends the watches of a closed session, after its earlier calls.
    func sessionClosed(_ session: SessionID, user: UInt32) {
        guard state.withLock({ $0.watchers.remove(session) }) != nil else { return }
        submit(StoreJob(session: session, user: user, .read, { $0.watches.remove(session) }, end: { _ in }))
    }

    /// Records that these sessions may have watches, which come from the previous daemon.
    func noteWatchers(_ sessions: some Sequence<SessionID>) {
        state.withLock { $0.watchers.formUnion(sessions) }
    }

    /// Continues a replay: sends a page, then queues again, so that others get their turn in between.
    func replay(_ replay: WatchRegistry.ReplayID) {
        let send = { @Sendable (access: StoreAccess) in
            let isMore = try access.watches.sendNextPage(of: replay, access.records, access.sink)
            if isMore { access.sink.whenTaken { self.replay(replay) } }
        }
        submit(
            StoreJob(session: replay.session, user: replay.user, .read, send) { outcome in
                guard case .failure = outcome else { return }
                // Not immediately: the engine may be in use.
                self.schedule(.commits) { self.stall(replay) }
            })
    }

    private func stall(_ replay: WatchRegistry.ReplayID) {
        commits.withLock { $0.stall(replay) }
        hasStalledReplays.store(true, ordering: .relaxed)
    }

    /// Continues stalled replays. Called after the storage has worked.
    private func carryOnReplays() {
        guard hasStalledReplays.exchange(false, ordering: .relaxed) else { return }
        schedule(.commits) { self.commits.withLock { $0.takeStalled() }.forEach(self.replay) }
    }

    // MARK: The lanes' threads

    /// Executes all calls that wait for a lane, batch after batch, the users in turn. The lane's thread.
    private func drain(_ lane: StoreLane) {
        var calls: [any StoreCall] = []
        while true {
            // Taken batch by batch, so that the options of executed calls do not stay in memory.
            calls.removeAll(keepingCapacity: true)
            state.withLock { $0.queues.take(lane, into: &calls) }
            if calls.isEmpty { return }
            let outcome = carryOut(calls, on: lane)
            settle(calls, left: outcome.left, lane)
            if outcome.isSound { carryOnReplays() }
            if lane == .commits { emptyLongLog() }
        }
    }

    private func carryOut(_ calls: [any StoreCall], on lane: StoreLane) -> LaneOutcome {
        let slice = Slice(of: Limits.slice, clock)
        switch lane {
        case .commits: return commits.withLock { $0.carryOut(calls, until: slice) }
        case .reads: return reads.withLock { $0.carryOut(calls, until: slice) }
        case .queries: return queries.withLock { $0.carryOut(calls, until: slice) }
        }
    }

    /// Finishes the taken calls, except those in `left`, which continue to wait.
    private func settle(_ calls: [any StoreCall], left: [any StoreCall], _ lane: StoreLane) {
        let isLeft = Set(left.map { ObjectIdentifier($0) })
        let (lanes, whenIdle) = state.withLock { state in
            state.queues.putBack(left, lane)
            // The turn of the user of the last executed call, or of the query that had a slice, ends, even if no other
            // user was waiting when the call began.
            let last = lane == .queries ? calls.last : calls.last { !isLeft.contains(ObjectIdentifier($0)) }
            if let last { state.queues.endTurn(of: last.user, lane) }
            let lanes = state.queues.finish(calls.lazy.filter { !isLeft.contains(ObjectIdentifier($0)) })
            state.callsGauge.set(state.queues.count)
            return (lanes, state.queues.count == 0 ? state.whenIdle.take() : nil)
        }
        lanes.forEach(wake)
        whenIdle?.resume()
    }

    /// Empties a log that has grown because queries always read an earlier state. The queries continue with the current
    /// state. If another program still reads an earlier state, this is tried again when the log has grown by the same
    /// amount.
    private func emptyLongLog() {
        guard commits.withLock({ $0.logBytes }) > nextLogBytes.load(ordering: .relaxed) else { return }
        let rest = queries.withLock { queries in
            queries.releaseSnapshots()
            return reads.withLock { _ in
                commits.withLock { commits in
                    commits.emptyLog()
                    return commits.logBytes
                }
            }
        }
        nextLogBytes.store(rest + maximumLogBytes, ordering: .relaxed)
    }
}

extension BridgeError {
    fileprivate static var tooMuchWaits: BridgeError {
        BridgeError(
            .busy, "too many bytes of this session wait for the store: wait for some answers first",
            data: ["started": false], isTransient: true, retryAfter: .milliseconds(100))
    }
}
