import DurableDatabase
import GRDB
import TaskKit

/// Executes queries, a slice of each at a time. An unfinished query keeps a connection with an open transaction, so
/// that it reads the store as it was at its beginning. If there are more queries than `Limits.snapshots`, or the log is
/// too long, a query ends its transaction and continues with the current state of the store.
///
/// Used by one thread at a time, that of its lane. It reads committed data only. It waits for no commit, and no commit
/// waits for it.
struct QueryEngine {
    /// A query that has begun.
    fileprivate struct Begun {
        var scan: QueryScan
        /// The connection with the query's open transaction; `nil` if the transaction was ended.
        var connection: KeptConnection?
    }

    private let sink: any StoreSink
    /// Creates a connection that is opened at its first use; `nil` if the engine is not open.
    private var makeConnection: (() -> KeptConnection)?
    /// A connection for the next query, without a transaction.
    private var spare: KeptConnection?
    private var begun: [ObjectIdentifier: Begun] = [:]

    init(sink: any StoreSink) { self.sink = sink }

    /// Enables the execution of calls. The first call opens a connection.
    mutating func open(_ settings: StoreEngine.Settings) {
        makeConnection = {
            KeptConnection(log: settings.log) { () throws(BridgeError) in
                try settings.file.openReader(keepsTransactions: true)
            }
        }
    }

    mutating func close() {
        rest()
        makeConnection = nil
    }

    /// Closes all connections. They are opened again for the next slice, and unfinished queries begin again.
    mutating func rest() {
        releaseSnapshots()
        begun = [:]
        spare?.close(isLast: false)
        spare = nil
    }

    /// Ends the transactions of unfinished queries, which then continue with the current state of the store. So they no
    /// longer need the log for the earlier state.
    mutating func releaseSnapshots() {
        for id in begun.keys {
            guard let connection = begun[id]?.connection.take() else { continue }
            release(connection)
        }
    }

    /// Executes a slice of one query, and answers the query if that slice was the last.
    mutating func carryOut(_ calls: [any StoreCall], until slice: Slice) -> LaneOutcome {
        guard let call = calls.first else { return LaneOutcome() }
        let result: Result<[UInt8], BridgeError>
        do {
            guard let done = try carryOut(call, until: slice) else { return LaneOutcome(left: calls) }
            result = .success(done)
        } catch {
            result = .failure(BridgeError(storage: error))
        }
        sink.deliver([StoreAnswer(call: call, outcome: result)])
        // The call's connection was returned in every case.
        return LaneOutcome(isSound: spare == nil || spare?.opened != nil)
    }

    /// - Returns: The result; `nil` if another slice is needed.
    private mutating func carryOut(_ call: any StoreCall, until slice: Slice) throws -> [UInt8]? {
        guard let makeConnection else { throw BridgeError.storeNotOpen }
        let id = ObjectIdentifier(call)
        let known = begun.removeValue(forKey: id)
        var connection = known?.connection ?? spare.take() ?? makeConnection()
        do {
            let step = try connection.usable().step(call, known, until: slice)
            switch step {
            case .result(let result):
                release(connection)
                return result
            case .scan(let scan):
                let mayKeep = begun.values.count { $0.connection != nil } < Limits.snapshots
                begun[id] = Begun(scan: scan, connection: mayKeep ? connection : nil)
                if !mayKeep { release(connection) }
                return nil
            }
        } catch let error as BridgeError {
            release(connection)
            throw error
        } catch {
            connection.abandon(BridgeError(storage: error))
            spare = connection
            throw error
        }
    }

    /// Ends the transaction of a connection, and keeps one connection for the next query.
    private mutating func release(_ connection: KeptConnection) {
        var connection = connection
        connection.opened?.endTransaction()
        if spare == nil { spare = connection } else { connection.close(isLast: false) }
    }
}

extension StoreConnection {
    /// Executes a slice of a query, in a transaction that stays open.
    ///
    /// - Parameter begun: The progress of the query so far; `nil` if it has not begun.
    fileprivate func step(_ call: any StoreCall, _ begun: QueryEngine.Begun?, until slice: Slice) throws -> StoreWork {
        try use { database, statements in
            let records = RecordReader(database, statements, collections)
            if begun?.connection == nil { try records.statement("BEGIN").run() }
            guard let begun else {
                guard case .scan(let scan) = try StoreVisit(call: call, records: records, access: nil).work() else {
                    preconditionFailure("A call that is not a query was sent to \(call.lane).")
                }
                return try scan.advance(records) { slice.isOver }.map(StoreWork.result) ?? .scan(scan)
            }
            if call.isCancelled { throw BridgeError.cancelled }
            return try begun.scan.advance(records) { slice.isOver }.map(StoreWork.result) ?? .scan(begun.scan)
        }
    }
}
