import TaskKit

/// A call that waits for the store.
struct StoreCall: Sendable {
    /// What is to be done, and on which lane. Returns the `result` as JSON.
    enum Work: Sendable {
        /// Reads one record.
        case read(@Sendable (RecordReader) throws -> [UInt8])
        /// Reads many. `isCancelled`: nobody waits for the answer any more.
        case query(@Sendable (RecordReader, _ isCancelled: () -> Bool) throws -> [UInt8])
        /// Looks at the store between two transactions, or at who watches it.
        case watch(@Sendable (StoreAccess) throws -> [UInt8])
        /// Changes records. A `BridgeError` says that it has changed nothing; any other fails the whole batch.
        case write(@Sendable (StoreAccess) throws -> [UInt8])
    }

    /// Whose order of calls it belongs to.
    var session: SessionID
    /// The length of its options.
    var sizeBytes: Int
    /// Whether nobody waits for the answer any more; asked right before the work begins.
    var isCancelled: @Sendable () -> Bool
    var work: Work
    /// Gets the outcome, exactly once; of a write, once it is on disk. Called where the sink delivers; must not wait.
    var answer: @Sendable (Result<[UInt8], BridgeError>) -> Void

    var lane: StoreLane {
        switch work {
        case .read: .reads
        case .query: .queries
        case .watch, .write: .commits
        }
    }

    /// What the planner of commits needs to know of it.
    var item: BatchPlanner.Item {
        switch work {
        case .write: BatchPlanner.Item(session: session, effect: .write, sizeBytes: sizeBytes)
        case .read, .query, .watch: BatchPlanner.Item(session: session, effect: .read, sizeBytes: sizeBytes)
        }
    }
}

/// The threads of the store, each with a connection of its own: what one waits for does not hold up the others.
enum StoreLane: Int, CaseIterable, Sendable {
    /// Writes, in shared commits, and watches, which begin between two commits. It waits for the disk.
    case commits
    /// Reads by key: microseconds each.
    case reads
    /// Queries: as long as a table is.
    case queries
}

/// What the work on the lane of commits can reach.
struct StoreAccess {
    let records: RecordStore
    let watches: WatchRegistry
    let keys: KeyGenerator
    let sink: any StoreSink
}

/// A call's answer, on its way to the caller.
struct StoreAnswer: Sendable {
    var call: StoreCall
    var outcome: Result<[UInt8], BridgeError>

    func give() { call.answer(outcome) }
}

/// Where answers and events go: the daemon, or a test's list. Called on the lanes' threads; what one thread hands over
/// arrives in its order.
protocol StoreSink: Sendable {
    /// Gives each of the answers, together.
    func deliver(_ answers: [StoreAnswer])

    /// Sends an event to sessions that watch, subscribed or not.
    func tell(_ change: RecordChanged, to sessions: [SessionID])

    /// Calls `body` once the daemon has taken what was told before, on whatever thread: so that a long replay does not
    /// pile up in front of it.
    func whenTaken(_ body: @escaping @Sendable () -> Void)
}
