import DurableDatabase
import GRDB
import TaskKit

/// A read-only connection that executes reads by key.
///
/// Used by one thread at a time, that of its lane. It reads committed data only. It waits for no commit, and no commit
/// waits for it.
struct ReadEngine {
    private let sink: any StoreSink
    /// The connection; `nil` if the engine is not open.
    var kept: KeptConnection?

    init(sink: any StoreSink) { self.sink = sink }

    /// Enables the execution of calls. The first call opens the connection, unless `holdIndex` has opened it.
    mutating func open(_ settings: StoreEngine.Settings) {
        kept = KeptConnection(log: settings.log) { () throws(BridgeError) in try settings.file.openReader() }
    }

    /// Opens the connection before the first call: while a connection is open, the log's index file stays. To create it
    /// again for a read after the writing connection was closed, the disk would have to be writable.
    mutating func holdIndex() {
        // `try?`: an error occurs again at the first call, which reports it.
        try? kept?.usable().use { database, _ in _ = try Int.fetchOne(database, sql: "SELECT 1 FROM sqlite_schema") }
    }

    mutating func close() {
        kept?.close(isLast: false)
        kept = nil
    }

    /// Executes calls from the front, as many as fit into the slice and one delivery, and answers them. A failed read
    /// affects no other. After a failure of the storage the next read opens a new connection.
    mutating func carryOut(_ calls: [any StoreCall], until slice: Slice) -> LaneOutcome {
        var batch = ReadBatch(rest: calls[...], slice)
        var isSound = true
        while !batch.isDone {
            do throws(BridgeError) {
                guard let connection = try kept?.usable() else { throw BridgeError.storeNotOpen }
                if let failure = batch.carryOut(on: connection) {
                    isSound = false
                    kept?.abandon(failure)
                }
            } catch {
                isSound = false
                batch.fail(error)
            }
        }
        sink.deliver(batch.answers)
        return LaneOutcome(left: Array(batch.rest), isSound: isSound)
    }
}

/// Reads that share a transaction and a delivery.
private struct ReadBatch {
    private(set) var rest: ArraySlice<any StoreCall>
    private(set) var answers: [StoreAnswer] = []
    private var resultBytes = 0
    private let slice: Slice

    /// The maximum size of the results in one delivery, which limits the memory that they use.
    private static let deliveryBytes = 256 << 10

    init(rest: ArraySlice<any StoreCall>, _ slice: Slice) {
        (self.rest, self.slice) = (rest, slice)
        answers.reserveCapacity(rest.count)
    }

    /// Whether the delivery is full or the time is over. The first call is always executed.
    var isDone: Bool {
        guard let next = rest.first, resultBytes < Self.deliveryBytes else { return true }
        // The decoding of long options takes milliseconds. No other answer must wait for it.
        return !answers.isEmpty && (slice.isOver || next.sizeBytes > Limits.shortOptionBytes)
    }

    /// - Returns: The error if the storage failed, else `nil`.
    mutating func carryOut(on connection: StoreConnection) -> BridgeError? {
        connection.use { database, statements in
            let records = RecordReader(database, statements, connection.collections)
            // One transaction for all reads: every statement outside of a transaction locks the file and unlocks it.
            _ = try? records.statement("BEGIN").run()
            defer { if (try? records.statement("COMMIT").run()) == nil { try? database.rollback() } }
            while !isDone, let call = rest.popFirst() {
                if let failure = carryOut(call, records) { return failure }
            }
            return nil
        }
    }

    private mutating func carryOut(_ call: any StoreCall, _ records: RecordReader) -> BridgeError? {
        do {
            let result = try StoreVisit(call: call, records: records, access: nil).result()
            resultBytes += result.count
            answers.append(StoreAnswer(call: call, outcome: .success(result)))
        } catch let error as BridgeError {
            answers.append(StoreAnswer(call: call, outcome: .failure(error)))
        } catch {
            let failure = BridgeError(storage: error)
            answers.append(StoreAnswer(call: call, outcome: .failure(failure)))
            return failure
        }
        return nil
    }

    /// Answers all remaining calls with an error.
    mutating func fail(_ error: BridgeError) {
        while let call = rest.popFirst() { answers.append(StoreAnswer(call: call, outcome: .failure(error))) }
    }
}
