import TaskKit

/// A call that waits for the store: one object from the task to the answer.
protocol StoreCall: AnyObject, Sendable {
    /// Whose order of calls it belongs to.
    var session: SessionID { get }
    /// Whose turn it takes: the session's uid.
    var user: UInt32 { get }
    var lane: StoreLane { get }
    /// The length of its options.
    var sizeBytes: Int { get }
    /// What it does to the store.
    var effect: BatchPlanner.Effect { get }
    /// Whether it may leave its session with a watch.
    var mayWatch: Bool { get }
    /// Whether no one waits for the answer any longer; asked right before the work begins, and while it takes long.
    var isCancelled: Bool { get }

    /// The work, on the lane's thread. A write's `BridgeError` says that it has changed nothing, any other error fails
    /// the whole batch.
    func carryOut(_ visit: StoreVisit) throws -> StoreWork

    /// Gets the outcome, exactly once; of a write, once it is on disk. Called where the sink delivers; must not wait.
    func answer(_ outcome: Result<[UInt8], BridgeError>)
}

extension StoreCall {
    var mayWatch: Bool { false }

    /// What the planner of commits needs to know of it.
    var item: BatchPlanner.Item { BatchPlanner.Item(session: session, effect: effect, sizeBytes: sizeBytes) }
}

/// What a call's work has come to.
enum StoreWork {
    /// It is done; the `result` as JSON.
    case result([UInt8])
    /// It takes as long as a table is large, and is carried out slice by slice. On the lane of queries only.
    case scan(QueryScan)
}

/// A call's visit to the store.
struct StoreVisit {
    let call: any StoreCall
    let records: RecordReader
    /// Nil: only to read.
    let access: StoreAccess?

    /// Does the call's work.
    func work() throws -> StoreWork {
        if call.isCancelled { throw BridgeError.cancelled }
        return try call.carryOut(self)
    }

    /// The result of a call's work on a lane whose calls are carried out immediately.
    func result() throws -> [UInt8] {
        guard case .result(let result) = try work() else { preconditionFailure("A scan came to \(call.lane).") }
        return result
    }
}

/// A call of no task: the store's own.
final class StoreJob: StoreCall {
    let session: SessionID
    let user: UInt32
    let effect: BatchPlanner.Effect
    private let work: @Sendable (StoreAccess) throws -> Void
    private let end: @Sendable (Result<[UInt8], BridgeError>) -> Void

    /// - Parameter end: Gets the outcome.
    init(
        session: SessionID, user: UInt32, _ effect: BatchPlanner.Effect,
        _ work: @escaping @Sendable (StoreAccess) throws -> Void,
        end: @escaping @Sendable (Result<[UInt8], BridgeError>) -> Void
    ) {
        (self.session, self.user, self.effect, self.work, self.end) = (session, user, effect, work, end)
    }

    var lane: StoreLane { .commits }
    var sizeBytes: Int { 0 }
    var isCancelled: Bool { false }

    func carryOut(_ visit: StoreVisit) throws -> StoreWork {
        guard let access = visit.access else { preconditionFailure("A job of the store came to a reader.") }
        try work(access)
        return .result([])
    }

    func answer(_ outcome: Result<[UInt8], BridgeError>) { end(outcome) }
}

/// The threads of the store, each with a connection of its own: what one waits for does not hold up the others.
enum StoreLane: Int, CaseIterable, Sendable {
    /// Writes, in shared commits, and watches, which begin between two commits. It waits for the disk.
    case commits
    /// Reads by key: microseconds each.
    case reads
    /// Queries: as long as a table is.
    case queries

    /// How many calls are taken together.
    var callsAtOnce: Int {
        switch self {
        case .commits: BatchPlanner.Bounds().calls
        case .reads: Limits.readsInBatch
        case .queries: 1
        }
    }

    /// A thread for it. Commits and queries may take long, and others need not wait for them; reads by key do not.
    var threads: BlockingThreads {
        self == .reads ? BlockingThreads(name: threadName) : BlockingThreads(batch: threadName)
    }

    /// What its thread is called.
    private var threadName: String {
        switch self {
        case .commits: "records-commits"
        case .reads: "records-reads"
        case .queries: "records-queries"
        }
    }
}

/// What the work on the lane of commits can reach.
final class StoreAccess {
    let records: RecordStore
    let watches: WatchRegistry
    let keys: KeyGenerator
    let namespaces: NamespaceMemory
    let sink: any StoreSink

    init(
        records: RecordStore, watches: WatchRegistry, keys: KeyGenerator, namespaces: NamespaceMemory,
        sink: any StoreSink
    ) {
        self.records = records
        self.watches = watches
        self.keys = keys
        self.namespaces = namespaces
        self.sink = sink
    }
}

/// A call's answer, on its way to the caller.
struct StoreAnswer: Sendable {
    var call: any StoreCall
    var outcome: Result<[UInt8], BridgeError>

    func give() { call.answer(outcome) }
}

/// Where answers and events go: the daemon, or a test's list. Called on the lanes' threads; what one thread hands over
/// arrives in its order.
protocol StoreSink: WatchSink {
    /// Gives each of the answers, together.
    func deliver(_ answers: [StoreAnswer])

    /// Calls `body` once the daemon has taken what was sent before, on whatever thread: so that a long replay does not
    /// pile up in front of it.
    func whenTaken(_ body: @escaping @Sendable () -> Void)
}
