import DurableDatabase
import GRDB
import TaskKit

/// The writing connection and the watchers. It executes batches of writes and watches.
///
/// Used by one thread at a time, that of the lane of commits. After a failure of the storage the connection is closed,
/// and opened again before its next use.
struct StoreEngine {
    /// The settings for opening.
    struct Settings: Sendable {
        var file: StoreFile
        /// The number of deletions that are stored for a namespace.
        var maximumDeletions: Int64
        /// The quota of a namespace; unlimited by default.
        var quota = StoreQuota()
        /// Receives messages for the operator.
        var log: @Sendable (String) -> Void
        /// The metrics to update; by default they are not published.
        var metrics = StoreMetrics()
    }

    let sink: any StoreSink
    let watches = WatchRegistry()
    private let keys = KeyGenerator()
    private let namespaces = NamespaceMemory()
    private var maximumDeletions: Int64 = 0
    private var quota = StoreQuota()
    private var metrics = StoreMetrics()
    private var file: StoreFile?
    /// See ``BatchProgress``.
    private var slowUsers: Set<UInt32> = []
    /// The connection; `nil` if the engine is not open yet or is closed.
    var kept: KeptConnection?

    init(sink: any StoreSink) { self.sink = sink }

    // MARK: Opening and closing

    /// - Returns: Whether the whole database was checked before the check was interrupted.
    /// - Throws: `storage.failed`, `storage.full`, with a message for the operator.
    mutating func open(_ settings: Settings, check: Interruption) throws(BridgeError) -> Bool {
        let (queue, isChecked) = try settings.file.open(integrityCheck: check)
        maximumDeletions = settings.maximumDeletions
        quota = settings.quota
        metrics = settings.metrics
        file = settings.file
        do { metrics.records.set(try queue.inDatabase(RecordStore.countRecords)) } catch {
            throw BridgeError(storage: error)
        }
        metrics.size.set(settings.file.sizeBytes)
        kept = KeptConnection(queue, log: settings.log) { () throws(BridgeError) in
            try settings.file.open(integrityCheck: nil).queue
        }
        return isChecked
    }

    /// Moves the content of the log into the database and closes the database. No call is executed afterwards.
    mutating func close() {
        kept?.close(isLast: true)
        kept = nil
    }

    mutating func usableConnection() throws(BridgeError) -> StoreConnection {
        guard let connection = try kept?.usable() else { throw .storeNotOpen }
        return connection
    }

    // MARK: Batches

    /// The length of the log in bytes. The log grows until no reader uses an earlier state of the database.
    var logBytes: Int { file?.logBytes ?? 0 }

    /// Moves the content of the log into the database, and empties the log. Does not wait for readers: if one still
    /// reads an earlier state, the log stays.
    mutating func emptyLog() {
        // `try?`: a failure of the storage occurs again at the next commit.
        try? kept?.usable().emptyLog()
    }

    /// Executes a batch from the front of the calls, as far as the slice allows, and answers the executed calls. The
    /// first call is always executed.
    mutating func carryOut(_ calls: [any StoreCall], until slice: Slice) -> LaneOutcome {
        let batch = BatchPlanner.plan(calls.lazy.map(\.item))
        var progress = BatchProgress(users: calls.prefix(batch.count).map(\.user), slow: slowUsers, slice)
        defer { slowUsers = progress.slowUsers }
        for position in batch.before where progress.begin(position) { watch(calls[position]) }
        write(batch.writes.lazy.map { (calls[$0], $0) }, &progress)
        for position in batch.after where progress.begin(position) { watch(calls[position]) }
        return LaneOutcome(left: progress.left(of: calls), isSound: kept?.opened != nil)
    }

    /// Executes a watch. A failed watch affects no other, but after a failure of the storage the next one opens a new
    /// connection.
    private mutating func watch(_ call: any StoreCall) {
        let outcome: Result<[UInt8], BridgeError>
        do throws(BridgeError) {
            let connection = try usableConnection()
            let result = connection.use { database, statements in
                Result { try work(call, makeAccess(database, statements, connection.collections)) }
            }
            outcome = result.mapError { error in
                let isFailure = !(error is BridgeError)
                let error = BridgeError(storage: error)
                if isFailure { kept?.abandon(error) }
                return error
            }
        } catch {
            outcome = .failure(error)
        }
        // Delivered singly: events that the later work sends must come after it.
        sink.deliver([StoreAnswer(call: call, outcome: outcome)])
    }

    /// Executes writes in one transaction, as many as fit into the slice. If the transaction fails, all of them fail.
    private mutating func write(_ calls: some Collection<(any StoreCall, Int)>, _ progress: inout BatchProgress) {
        // Without writes there is no transaction.
        guard let first = calls.first, progress.mayBegin(first.1) else { return }
        let start = ContinuousClock.now
        do throws(BridgeError) {
            let connection = try usableConnection()
            let committed = connection.use { database, statements in
                let access = makeAccess(database, statements, connection.collections)
                return Result { try (commit(calls, access, &progress), access.records) }
            }
            switch committed {
            case .success(let (answers, records)):
                // Before the answers: a caller that has received one finds the commit counted.
                if records.tally.changes > 0 {
                    metrics.note(records.tally, took: ContinuousClock.now - start, sizeBytes: file?.sizeBytes ?? 0)
                }
                sink.deliver(answers)
                // After the answers: a writer that also watches has received the answer before the event of its own
                // change.
                watches.notify(records.changes, sink)
            case .failure(let error):
                let failure = BridgeError(storage: error)
                kept?.abandon(failure)
                throw failure
            }
        } catch {
            let failed = calls.filter { progress.fail($0.1) }
            sink.deliver(failed.map { StoreAnswer(call: $0.0, outcome: .failure(error)) })
        }
    }

    private func commit(
        _ calls: some Collection<(any StoreCall, Int)>, _ access: StoreAccess, _ progress: inout BatchProgress
    ) throws -> [StoreAnswer] {
        let records = access.records
        try records.statement("BEGIN IMMEDIATE").run()
        do {
            var answers: [StoreAnswer] = []
            for (call, position) in calls where progress.begin(position) {
                do {
                    let result = try progress.timing(position) { try work(call, access) }
                    answers.append(StoreAnswer(call: call, outcome: .success(result)))
                } catch let error as BridgeError {
                    answers.append(StoreAnswer(call: call, outcome: .failure(error)))
                }
            }
            // Calls that have rolled back their changes leave modified pages, whose commit would be useless.
            guard records.tally.changes > 0 else {
                try records.statement("ROLLBACK").run()
                records.collections.removeAll()
                return answers
            }
            try records.finish()
            try records.statement("COMMIT").run()
            return answers
        } catch {
            records.database.abandonFailedCommit()
            throw error
        }
    }

    private func work(_ call: any StoreCall, _ access: StoreAccess) throws -> [UInt8] {
        access.records.beginCall()
        return try StoreVisit(call: call, records: access.records, access: access).result()
    }

    private func makeAccess(
        _ database: Database, _ statements: StatementCache, _ collections: CollectionCache
    ) -> StoreAccess {
        let records = RecordStore(
            database, statements, collections, maximumDeletions: maximumDeletions, quota: quota,
            isWatched: !watches.isEmpty
        ) { [watches] in !watches.isReplaying($0) }
        return StoreAccess(records: records, watches: watches, keys: keys, namespaces: namespaces, sink: sink)
    }

    /// Runs `body` with the store, between two batches.
    mutating func withAccess<T>(_ body: (StoreAccess) throws -> T) throws -> T {
        let connection = try usableConnection()
        return try connection.use { try body(makeAccess($0, $1, connection.collections)) }
    }

    // MARK: Watchers

    func stall(_ replay: WatchRegistry.ReplayID) { watches.stall(replay) }

    /// Returns the replays that a failure interrupted and that must continue.
    func takeStalled() -> [WatchRegistry.ReplayID] { watches.takeStalled() }
}

extension BridgeError {
    static var storeNotOpen: BridgeError {
        BridgeError(.pluginUnavailable, "the store is not open", isTransient: true)
    }
}
