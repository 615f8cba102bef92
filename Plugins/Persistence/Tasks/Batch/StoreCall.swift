import TaskKit

/// A call that waits for the store. One object represents it from the task to the answer.
protocol StoreCall: AnyObject, Sendable {
    /// The session in whose order of calls it is.
    var session: SessionID { get }
    /// The user whose turn it uses: the session's uid.
    var user: UInt32 { get }
    var lane: StoreLane { get }
    /// The length of its options in bytes.
    var sizeBytes: Int { get }
    /// Its effect on the store.
    var effect: BatchPlanner.Effect { get }
    /// Whether its session may have a watch afterwards.
    var mayWatch: Bool { get }
    /// Whether the caller no longer waits for the answer. Read right before the work begins, and during long work.
    var isCancelled: Bool { get }

    /// Does the work, on the lane's thread. If a write throws a `BridgeError`, it has changed nothing. Any other error
    /// fails the whole batch.
    func carryOut(_ visit: StoreVisit) throws -> StoreWork

    /// Receives the outcome, exactly once; that of a write once it is on disk. Called on the thread on which the sink
    /// delivers. Must not block.
    func answer(_ outcome: Result<[UInt8], BridgeError>)
}

extension StoreCall {
    var mayWatch: Bool { false }

    /// The call in the form for the planner of commits.
    var item: BatchPlanner.Item { BatchPlanner.Item(session: session, effect: effect, sizeBytes: sizeBytes) }
}

/// The state of a call's work.
enum StoreWork {
    /// The work is done; the `result` as JSON.
    case result([UInt8])
    /// The work takes time in proportion to the size of a table, and is done slice by slice. Only on the lane of
    /// queries.
    case scan(QueryScan)
}

/// The access of one call to the store.
struct StoreVisit {
    let call: any StoreCall
    let records: RecordReader
    /// The access for writes and watches; `nil` on the lanes that only read.
    let access: StoreAccess?

    /// Does the call's work.
    func work() throws -> StoreWork {
        if call.isCancelled { throw BridgeError.cancelled }
        return try call.carryOut(self)
    }

    /// Returns the result of a call's work on a lane that does not work in slices.
    func result() throws -> [UInt8] {
        guard case .result(let result) = try work() else { preconditionFailure("A scan was sent to \(call.lane).") }
        return result
    }
}

/// A call of the store itself, not of a task.
final class StoreJob: StoreCall {
    let session: SessionID
    let user: UInt32
    let effect: BatchPlanner.Effect
    private let work: @Sendable (StoreAccess) throws -> Void
    private let end: @Sendable (Result<[UInt8], BridgeError>) -> Void

    /// - Parameter end: Receives the outcome.
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
        guard let access = visit.access else { preconditionFailure("A job of the store was sent to a reader.") }
        try work(access)
        return .result([])
    }

    func answer(_ outcome: Result<[UInt8], BridgeError>) { end(outcome) }
}

/// The threads of the store, each with its own connections. While one waits, the others continue.
enum StoreLane: Int, CaseIterable, Sendable {
    /// Writes, in shared commits, and watches, which begin between two commits. It waits for the disk.
    case commits
    /// Reads by key: microseconds each.
    case reads
    /// Queries: the time depends on the size of the table.
    case queries

    /// The number of calls that are taken together.
    var callsAtOnce: Int {
        switch self {
        case .commits: BatchPlanner.Bounds().calls
        case .reads: Limits.readsInBatch
        case .queries: 1
        }
    }

    /// Returns a thread for the lane. Commits and queries may take long and run as batch work; reads by key are short.
    var threads: BlockingThreads {
        self == .reads ? BlockingThreads(name: threadName) : BlockingThreads(batch: threadName)
    }

    /// The name of its thread.
    private var threadName: String {
        switch self {
        case .commits: "records-commits"
        case .reads: "records-reads"
        case .queries: "records-queries"
        }
    }
}

/// The objects for the work on the lane of commits.
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

/// The receiver of answers and events: the daemon, or a list in a test. Called on the lanes' threads. The order of each
/// thread is kept.
protocol StoreSink: WatchSink {
    /// Delivers these answers together.
    func deliver(_ answers: [StoreAnswer])

    /// Calls `body` on any thread once the daemon has taken everything sent before, so that a long replay does not
    /// accumulate in memory.
    func whenTaken(_ body: @escaping @Sendable () -> Void)
}
