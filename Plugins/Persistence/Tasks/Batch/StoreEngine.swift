import GRDB
import TaskKit

/// The open database and its watchers: carries out batches.
///
/// Used by one thread at a time, the lane's (see `CommitLane`). After any failure of the storage the database is
/// closed, and opened anew before anything else is done with it: what a failed write left behind in this process is
/// not trusted.
struct StoreEngine {
    /// What opening needs.
    struct Settings: Sendable {
        var file: StoreFile
        /// Deletions that a namespace remembers.
        var maximumDeletions: Int64
        /// Gets sentences for the operator.
        var log: @Sendable (String) -> Void
    }

    private enum State {
        /// Not opened yet, or closed for good.
        case closed
        case open(DatabaseQueue)
        /// To be opened anew; the error that the storage failed with.
        case failed(BridgeError)
    }

    private let sink: any ChangeSink
    private let watches = WatchRegistry()
    private let keys = KeyGenerator()
    private let collections = CollectionCache()
    private var settings: Settings?
    private var state = State.closed

    init(sink: any ChangeSink) { self.sink = sink }

    // MARK: Opening and closing

    /// - Throws: `storage.failed`, `storage.full`, with a sentence for the operator.
    mutating func open(_ settings: Settings) throws(BridgeError) {
        let queue = try settings.file.open(checkingIntegrity: true)
        self.settings = settings
        state = .open(queue)
    }

    /// Moves what the log holds into the database and closes it. No call is carried out any more.
    mutating func close() {
        if case .open(let queue) = state {
            do {
                _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                try queue.close()
            } catch {
                // Nothing is lost: the log is read when the database is opened next.
                settings?.log("The database was not closed tidily: \(BridgeError(storage: error).message)")
            }
        }
        state = .closed
        settings = nil
    }

    /// The database, opened anew after a failure.
    private mutating func usableQueue() throws(BridgeError) -> (queue: DatabaseQueue, settings: Settings) {
        guard let settings else {
            throw BridgeError(.pluginUnavailable, "The store is not open.", isTransient: true)
        }
        if case .open(let queue) = state { return (queue, settings) }
        do throws(BridgeError) {
            let queue = try settings.file.open(checkingIntegrity: false)
            state = .open(queue)
            settings.log("The database was opened anew.")
            return (queue, settings)
        } catch {
            settings.log(error.message)
            guard case .failed(let cause) = state else { throw error }
            throw cause
        }
    }

    /// Gives up the connection after a failure of the storage.
    private mutating func fail(_ queue: DatabaseQueue, _ error: BridgeError) {
        state = .failed(error)
        collections.removeAll()
        settings?.log(error.message)
        do { try queue.close() } catch { settings?.log("The database was not closed tidily.") }
    }

    // MARK: Batches

    /// Carries out one batch and answers each of its calls.
    ///
    /// - Returns: Replays to be carried on, which a failure had interrupted.
    mutating func carryOut(_ batch: BatchPlanner.Batch, of calls: ArraySlice<StoreCall>) -> [WatchRegistry.ReplayID] {
        let picked = { (indexes: [Int]) in indexes.map { calls[calls.startIndex + $0] } }
        read(picked(batch.before))
        write(picked(batch.writes))
        read(picked(batch.after))
        if case .open = state { return watches.takeStalled() }
        return []
    }

    /// Reads that fail fail singly, but a failure of the storage makes those behind it wait for a new connection.
    private mutating func read(_ calls: [StoreCall]) {
        var rest = calls[...]
        while !rest.isEmpty {
            do throws(BridgeError) {
                let (queue, settings) = try usableQueue()
                let failure = queue.inDatabase { database -> BridgeError? in
                    let records = makeRecords(database, settings)
                    // One for all of them: every statement outside of a transaction locks the file and unlocks it.
                    try? database.beginTransaction(.deferred)
                    defer { try? database.rollback() }
                    while let call = rest.popFirst() {
                        if let failure = read(call, records) { return failure }
                    }
                    return nil
                }
                if let failure { fail(queue, failure) }
            } catch {
                rest.forEach { $0.answer(.failure(error)) }
                return
            }
        }
    }

    /// - Returns: The error, where the storage failed.
    private func read(_ call: StoreCall, _ records: RecordStore) -> BridgeError? {
        do {
            call.answer(.success(try work(call, records)))
        } catch let error as BridgeError {
            call.answer(.failure(error))
        } catch {
            let failure = BridgeError(storage: error)
            call.answer(.failure(failure))
            return failure
        }
        return nil
    }

    /// All writes in one transaction. Where it fails, all of them fail.
    private mutating func write(_ calls: [StoreCall]) {
        if calls.isEmpty { return }
        do throws(BridgeError) {
            let (queue, settings) = try usableQueue()
            let committed = queue.writeWithoutTransaction { database in
                let records = makeRecords(database, settings)
                return Result { try (commit(calls, records), records.changes) }
            }
            switch committed {
            case .success(let (outcomes, changes)):
                for (call, outcome) in zip(calls, outcomes) { call.answer(outcome) }
                // After the answers: a writer that watches knows the news of its own making by then.
                watches.tell(changes, sink)
            case .failure(let error):
                let failure = BridgeError(storage: error)
                fail(queue, failure)
                throw failure
            }
        } catch {
            calls.forEach { $0.answer(.failure(error)) }
        }
    }

    private func commit(_ calls: [StoreCall], _ records: RecordStore) throws -> [Result<[UInt8], BridgeError>] {
        let database = records.database
        try database.beginTransaction(.immediate)
        do {
            let outcomes = try calls.map { call -> Result<[UInt8], BridgeError> in
                do {
                    return .success(try records.inSavepoint { try work(call, records) })
                } catch let error as BridgeError {
                    return .failure(error)
                }
            }
            try database.commit()
            return outcomes
        } catch {
            abandon(database)
            throw error
        }
    }

    /// Rolls back, and makes sure that the failed transaction cannot come back: where only the last `fsync` failed, its
    /// pages and its commit mark stand in the log already, and whoever opens the database next would take them for
    /// committed. A small transaction writes over their beginning, whether it gets through or not.
    private func abandon(_ database: Database) {
        try? database.rollback()
        try? database.inTransaction(.immediate) {
            try database.execute(sql: "UPDATE failure SET count = count + 1")
            return .commit
        }
    }

    private func work(_ call: StoreCall, _ records: RecordStore) throws -> [UInt8] {
        if call.isCancelled() { throw BridgeError.cancelled }
        return try call.work(
            StoreAccess(
                records: records, watches: watches, keys: keys, sink: sink, isCancelled: call.isCancelled))
    }

    private func makeRecords(_ database: Database, _ settings: Settings) -> RecordStore {
        RecordStore(database, collections: collections, maximumDeletions: settings.maximumDeletions) { [watches] in
            !watches.isReplaying($0)
        }
    }

    // MARK: Watchers

    mutating func sessionClosed(_ session: SessionID) { watches.remove(session) }

    func stall(_ replay: WatchRegistry.ReplayID) { watches.stall(replay) }
}
