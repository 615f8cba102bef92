import DurableDatabase
import GRDB
import TaskKit

/// Carries out queries, a slice of each at a time. A query that has not ended keeps a connection with an open
/// transaction, so that it finds the store as it was when it began. Where there are more queries than
/// `Limits.snapshots`, or the log has grown too long, a query lets its transaction go, and goes on with what is stored
/// by then.
///
/// Used by one thread at a time, that of its lane. It sees what is committed and waits for no commit, nor does any
/// commit wait for it.
struct QueryEngine {
    /// A query that has begun.
    fileprivate struct Begun {
        var scan: QueryScan
        /// Has its transaction open; nil: it let it go.
        var connection: KeptConnection?
    }

    private let sink: any StoreSink
    /// Makes a connection that is opened when it is used. Nil: not open.
    private var makeConnection: (() -> KeptConnection)?
    /// For the next query, without a transaction.
    private var spare: KeptConnection?
    private var begun: [ObjectIdentifier: Begun] = [:]

    init(sink: any StoreSink) { self.sink = sink }

    /// From here on calls are carried out; a connection is opened for the first of them.
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

    /// Closes all connections. They are opened again for the next slice, and queries that have not ended begin again.
    mutating func rest() {
        releaseSnapshots()
        begun = [:]
        spare?.close(isLast: false)
        spare = nil
    }

    /// Queries that have not ended go on with what is stored by then, so that the log is not needed for what was
    /// before.
    mutating func releaseSnapshots() {
        for id in begun.keys {
            guard let connection = begun[id]?.connection.take() else { continue }
            release(connection)
        }
    }

    /// Carries out a slice of one query, and answers it where that was the last.
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
        // Its connection was given back, whatever became of it.
        return LaneOutcome(isSound: spare == nil || spare?.opened != nil)
    }

    /// - Returns: The result; nil: it takes another slice.
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

    /// Ends the transaction of a connection, and keeps one for the next query.
    private mutating func release(_ connection: KeptConnection) {
        var connection = connection
        connection.opened?.endTransaction()
        if spare == nil { spare = connection } else { connection.close(isLast: false) }
    }
}

extension StoreConnection {
    /// A slice of a query, in a transaction that is open afterwards.
    ///
    /// - Parameter begun: What the query has come to so far; nil: nothing.
    fileprivate func step(_ call: any StoreCall, _ begun: QueryEngine.Begun?, until slice: Slice) throws -> StoreWork {
        try use { database, statements in
            let records = RecordReader(database, statements, collections)
            if begun?.connection == nil { try records.statement("BEGIN").run() }
            guard let begun else {
                guard case .scan(let scan) = try StoreVisit(call: call, records: records, access: nil).work() else {
                    preconditionFailure("What is no query came to \(call.lane).")
                }
                return try scan.advance(records) { slice.isOver }.map(StoreWork.result) ?? .scan(scan)
            }
            if call.isCancelled { throw BridgeError.cancelled }
            return try begun.scan.advance(records) { slice.isOver }.map(StoreWork.result) ?? .scan(begun.scan)
        }
    }
}
