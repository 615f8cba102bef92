import TaskKit

/// A call that waits for the store.
struct StoreCall: Sendable {
    /// Whose order of calls it belongs to.
    var session: SessionID
    var effect: BatchPlanner.Effect
    /// The length of its options.
    var sizeBytes: Int
    /// Whether nobody waits for the answer any more; asked right before the work begins.
    var isCancelled: @Sendable () -> Bool
    /// The work, on the lane's thread: returns the `result` as JSON. A write runs in a savepoint of its own; a
    /// `BridgeError` undoes it alone, any other error fails the whole batch.
    var work: @Sendable (StoreAccess) throws -> [UInt8]
    /// Gets the outcome, exactly once, on the lane's thread; of a write, once it is on disk. Must not wait.
    var answer: @Sendable (Result<[UInt8], BridgeError>) -> Void

    var item: BatchPlanner.Item { BatchPlanner.Item(session: session, effect: effect, sizeBytes: sizeBytes) }
}

/// What a call's work can reach.
struct StoreAccess {
    let records: RecordStore
    let watches: WatchRegistry
    let keys: KeyGenerator
    let sink: any ChangeSink
    /// Whether nobody waits for this call's answer any more: for work that takes long.
    let isCancelled: @Sendable () -> Bool
}
