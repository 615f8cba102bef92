import Synchronization
import TaskKit

/// The store as the tasks see it: takes calls, has each carried out on its lane's thread, in the order that
/// `CallQueues` keeps.
///
/// May be used on any thread.
final class Store: Sendable {
    /// Runs jobs one after the other, in their order, on a lane's thread, which may block.
    typealias Scheduler = @Sendable (_ lane: StoreLane, _ job: @escaping @Sendable () -> Void) -> Void

    /// Runs something once the calls that came together have all been submitted: without waiting for any that may come.
    typealias Gatherer = @Sendable (@escaping @Sendable () -> Void) -> Void

    private struct State {
        var queues = CallQueues()
        /// Calls are taken in.
        var isOpen = false
        /// Sessions that may watch: the others end without a word to the lane of commits.
        var watchers: Set<SessionID> = []
        /// What calls of tasks are answered, because the database turned out to be damaged.
        var damage: BridgeError?
        /// Who waits for the last call to be finished.
        var whenIdle: CheckedContinuation<Void, Never>?
        /// Returns how many calls there are.
        var callsGauge = Gauge()
    }

    private let state = Mutex(State())
    // Each is held for a batch at a time, and a lane's jobs do not overlap: a job waits for it only while the database
    // is replaced.
    let commits: Mutex<StoreEngine>
    let reads: Mutex<ReadEngine>
    let queries: Mutex<QueryEngine>
    /// Replays wait for the storage to work again.
    private let hasStalledReplays = Atomic<Bool>(false)
    let lateCheck = LateCheck()
    /// Whether there is a `damage`: asked for each call.
    private let isDamaged = Atomic(false)
    private let schedule: Scheduler
    private let gather: Gatherer
    private let clock: Slice.Clock
    private let maximumLogBytes: Int
    /// How long the log may be before it is emptied; of the thread of the lane of commits.
    private let nextLogBytes: Atomic<Int>

    /// - Parameters:
    ///   - gather: the default runs its argument immediately: calls that come together are then taken as they come, by
    ///     a lane that may be done with the first before the second is there.
    ///   - clock: For the slices of the lanes' time.
    ///   - maximumLogBytes: How long the log may grow while queries read what was there before.
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

    /// Queues a call. Its position in its session's order is that of the call of this method. One too many is answered
    /// `busy`.
    func submit(_ call: any StoreCall) {
        let admission = state.withLock { state in
            defer { state.callsGauge.set(state.queues.count) }
            if call.mayWatch { state.watchers.insert(call.session) }
            return state.isOpen ? state.queues.admit(call) : nil
        }
        switch admission {
        case .first:
            // A lane is woken once for all that the loop has read, and carries it out as one batch: waking it for the
            // first call costs more than a read does, and would make a commit of one where there could be many.
            let lane = call.lane
            gather { self.wake(lane) }
        case .queued: break
        case .refused: call.answer(.failure(.tooMuchWaits))
        case nil: call.answer(.failure(.storeNotOpen))
        }
    }

    private func wake(_ lane: StoreLane) { schedule(lane) { self.drain(lane) } }

    // MARK: Opening and closing

    /// Opens the database, making or migrating it as needed, and checks it. Where time runs out, the rest is checked
    /// while the database is in use. If damage is found then, the log says so, and calls of tasks are refused.
    ///
    /// - Parameter check: Fires where there is no more time to check it.
    /// - Throws: `storage.failed`, `storage.full`, with a sentence for the operator.
    func open(_ settings: StoreEngine.Settings, check: Interruption = Interruption()) async throws {
        // All on one thread: those of the other lanes start with their first calls.
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
                settings.log("\(error.message); no call is carried out until then")
                self?.note(.storeDamaged)
            case .unknown(let error): settings.log("\(error.message); the rest of it is checked at the next start")
            case .interrupted: break
            }
        }
    }

    /// From here on calls of tasks are refused; nil: carried out again, for the database is another one.
    func note(_ damage: BridgeError?) {
        state.withLock { $0.damage = damage }
        isDamaged.store(damage != nil, ordering: .relaxed)
    }

    /// Carries out what was submitted before, then closes the database. Calls submitted later are refused.
    func close() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isOpen = false
                if state.queues.count > 0 { state.whenIdle = continuation }
                return state.queues.count == 0
            }
            if isIdle { continuation.resume() }
        }
        // No lane has anything left to do. The connection that writes is the last one: it leaves an empty log behind.
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

    /// Looks at the store between two batches, apart from any call.
    func withAccess<T: Sendable>(_ body: @escaping @Sendable (StoreAccess) throws -> T) async throws -> T {
        try await performOnCommits { try self.commits.withLock { try $0.withAccess(body) } }
    }

    // MARK: Watches

    /// Ends the watches of a session that is gone, after the calls that it made before.
    func sessionClosed(_ session: SessionID, user: UInt32) {
        guard state.withLock({ $0.watchers.remove(session) }) != nil else { return }
        submit(StoreJob(session: session, user: user, .read, { $0.watches.remove(session) }, end: { _ in }))
    }

    /// These sessions may watch, by watches of the daemon before.
    func noteWatchers(_ sessions: some Sequence<SessionID>) {
        state.withLock { $0.watchers.formUnion(sessions) }
    }

    /// Carries a replay on: sends a page, then queues up again, so that others get their turn in between.
    func replay(_ replay: WatchRegistry.ReplayID) {
        let send = { @Sendable (access: StoreAccess) in
            let isMore = try access.watches.sendNextPage(of: replay, access.records, access.sink)
            if isMore { access.sink.whenTaken { self.replay(replay) } }
        }
        submit(
            StoreJob(session: replay.session, user: replay.user, .read, send) { outcome in
                guard case .failure = outcome else { return }
                // Not here and now: the engine may be at work.
                self.schedule(.commits) { self.stall(replay) }
            })
    }

    private func stall(_ replay: WatchRegistry.ReplayID) {
        commits.withLock { $0.stall(replay) }
        hasStalledReplays.store(true, ordering: .relaxed)
    }

    /// The storage has just worked.
    private func carryOnReplays() {
        guard hasStalledReplays.exchange(false, ordering: .relaxed) else { return }
        schedule(.commits) { self.commits.withLock { $0.takeStalled() }.forEach(self.replay) }
    }

    // MARK: The lanes' threads

    /// Takes everything that waits for a lane, batch after batch, each of them in turns of the users. The lane's
    /// thread.
    private func drain(_ lane: StoreLane) {
        var calls: [any StoreCall] = []
        while true {
            // Taken batch by batch, so that the options of what is done do not stay in memory.
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

    /// Finishes calls that were taken, but for those that are left, which wait on.
    private func settle(_ calls: [any StoreCall], left: [any StoreCall], _ lane: StoreLane) {
        let isLeft = Set(left.map { ObjectIdentifier($0) })
        let (lanes, whenIdle) = state.withLock { state in
            state.queues.putBack(left, lane)
            // The user of the last call that was carried out, or of the query of which a slice was, has had a turn,
            // also where they were alone when it began.
            let last = lane == .queries ? calls.last : calls.last { !isLeft.contains(ObjectIdentifier($0)) }
            if let last { state.queues.endTurn(of: last.user, lane) }
            let lanes = state.queues.finish(calls.lazy.filter { !isLeft.contains(ObjectIdentifier($0)) })
            state.callsGauge.set(state.queues.count)
            return (lanes, state.queues.count == 0 ? state.whenIdle.take() : nil)
        }
        lanes.forEach(wake)
        whenIdle?.resume()
    }

    /// Empties a log that has grown because there was always a query that read what was there before: queries go on
    /// with what is there now. Where another program reads what was there before, it is tried again when the log has
    /// grown as much again.
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
            .busy, "too much of this session waits to be stored: wait for some answers first",
            data: ["started": false], isTransient: true, retryAfter: .milliseconds(100))
    }
}
