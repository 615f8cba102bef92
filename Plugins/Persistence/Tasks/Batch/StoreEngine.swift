import DurableDatabase
import GRDB
import TaskKit

/// The connection that writes, and the watchers: carries out batches of writes and watches.
///
/// Used by one thread at a time, that of the lane of commits. After any failure of the storage the connection is
/// closed, and opened again before anything else is done with it.
struct StoreEngine {
    /// What opening needs.
    struct Settings: Sendable {
        var file: StoreFile
        /// Deletions that a namespace remembers.
        var maximumDeletions: Int64
        /// What a namespace may hold; by default as much as it likes.
        var quota = StoreQuota()
        /// Gets sentences for the operator.
        var log: @Sendable (String) -> Void
        /// Are kept up to date; by default no one sees them.
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
    /// Nil: not opened yet, or closed for good.
    var kept: KeptConnection?

    init(sink: any StoreSink) { self.sink = sink }

    // MARK: Opening and closing

    /// - Returns: Whether the whole database was checked before the check was interrupted.
    /// - Throws: `storage.failed`, `storage.full`, with a sentence for the operator.
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

    /// Moves what the log holds into the database and closes it. No call is carried out from then on.
    mutating func close() {
        kept?.close(isLast: true)
        kept = nil
    }

    mutating func usableConnection() throws(BridgeError) -> StoreConnection {
        guard let connection = try kept?.usable() else { throw .storeNotOpen }
        return connection
    }

    // MARK: Batches

    /// How long the log is, which grows until no reader uses the database as it was before.
    var logBytes: Int { file?.logBytes ?? 0 }

    /// Moves what the log holds into the database, and empties it. Does not wait for readers: where one still reads
    /// what was there before, the log stays.
    mutating func emptyLog() {
        // `try?`: a failure of the storage is met again by the next commit.
        try? kept?.usable().emptyLog()
    }

    /// Carries out a batch from the front of the calls, as far as the slice reaches, and answers those that it has
    /// carried out. The first of them is carried out in any case.
    mutating func carryOut(_ calls: [any StoreCall], until slice: Slice) -> LaneOutcome {
        let batch = BatchPlanner.plan(calls.lazy.map(\.item))
        var progress = BatchProgress(users: calls.prefix(batch.count).map(\.user), slow: slowUsers, slice)
        defer { slowUsers = progress.slowUsers }
        for position in batch.before where progress.begin(position) { watch(calls[position]) }
        write(batch.writes.lazy.map { (calls[$0], $0) }, &progress)
        for position in batch.after where progress.begin(position) { watch(calls[position]) }
        return LaneOutcome(left: progress.left(of: calls), isSound: kept?.opened != nil)
    }

    /// Watches fail singly, but a failure of the storage makes those behind it wait for a new connection.
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
        // Each by itself: what the work has sent since belongs behind it.
        sink.deliver([StoreAnswer(call: call, outcome: outcome)])
    }

    /// Writes in one transaction, as many as the slice has time for. Where it fails, all of them fail.
    private mutating func write(_ calls: some Collection<(any StoreCall, Int)>, _ progress: inout BatchProgress) {
        // Nothing is begun for none.
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
                // Before the answers: who has one finds it counted.
                if records.tally.changes > 0 {
                    metrics.note(records.tally, took: ContinuousClock.now - start, sizeBytes: file?.sizeBytes ?? 0)
                }
                sink.deliver(answers)
                // After the answers: a writer that watches knows the news of its own making by then.
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
            // Calls that have undone what they did leave pages behind that would be written for nothing.
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

    /// Looks at the store, between two batches.
    mutating func withAccess<T>(_ body: (StoreAccess) throws -> T) throws -> T {
        let connection = try usableConnection()
        return try connection.use { try body(makeAccess($0, $1, connection.collections)) }
    }

    // MARK: Watchers

    func stall(_ replay: WatchRegistry.ReplayID) { watches.stall(replay) }

    /// Replays to be carried on, which a failure had interrupted.
    func takeStalled() -> [WatchRegistry.ReplayID] { watches.takeStalled() }
}

extension BridgeError {
    static var storeNotOpen: BridgeError {
        BridgeError(.pluginUnavailable, "the store is not open", isTransient: true)
    }
}
