import DurableDatabase
import GRDB
import TaskKit

/// A connection that only reads, and carries out reads by key.
///
/// Used by one thread at a time, that of its lane. It sees what is committed and waits for no commit, nor does any
/// commit wait for it.
struct ReadEngine {
    private let sink: any StoreSink
    /// Nil: not open.
    var kept: KeptConnection?

    init(sink: any StoreSink) { self.sink = sink }

    /// From here on calls are carried out; the connection is opened for the first of them, or held before.
    mutating func open(_ settings: StoreEngine.Settings) {
        kept = KeptConnection(log: settings.log) { () throws(BridgeError) in try settings.file.openReader() }
    }

    /// Opens the connection before there is a call: while one is open, the log's index stays where it is. To make it
    /// again, for a read after the connection that writes was closed, would take a disk that can be written to.
    mutating func holdIndex() {
        // `try?`: whatever is wrong is met again, and reported, by the first call.
        try? kept?.usable().use { database, _ in _ = try Int.fetchOne(database, sql: "SELECT 1 FROM sqlite_schema") }
    }

    mutating func close() {
        kept?.close(isLast: false)
        kept = nil
    }

    /// Carries out calls from the front, as far as the slice and a delivery reach, and answers those that it has
    /// carried out. Reads that fail fail singly, but a failure of the storage makes those behind it wait for a new
    /// connection.
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

    /// Results in one delivery, so that they do not pile up in memory.
    private static let deliveryBytes = 256 << 10

    init(rest: ArraySlice<any StoreCall>, _ slice: Slice) {
        (self.rest, self.slice) = (rest, slice)
        answers.reserveCapacity(rest.count)
    }

    /// All that goes into one delivery has been carried out, or all that there was time for; the first one in any case.
    var isDone: Bool {
        guard let next = rest.first, resultBytes < Self.deliveryBytes else { return true }
        // To decode long options takes milliseconds, for which no other answer waits.
        return !answers.isEmpty && (slice.isOver || next.sizeBytes > Limits.shortOptionBytes)
    }

    /// - Returns: The error, where the storage failed.
    mutating func carryOut(on connection: StoreConnection) -> BridgeError? {
        connection.use { database, statements in
            let records = RecordReader(database, statements, connection.collections)
            // One for all of them: every statement outside of a transaction locks the file and unlocks it.
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

    /// Answers all that are left with an error.
    mutating func fail(_ error: BridgeError) {
        while let call = rest.popFirst() { answers.append(StoreAnswer(call: call, outcome: .failure(error))) }
    }
}
