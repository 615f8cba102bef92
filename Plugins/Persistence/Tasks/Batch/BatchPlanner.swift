import TaskKit

/// Decides which of the waiting calls share one commit.
///
/// A batch is a prefix of the queue, executed in three steps. First, the reads of sessions that have no earlier write
/// in it. Second, all writes, in the order of arrival, in one transaction. Third, after the commit, the reads of
/// sessions that have an earlier write in it. A session that writes again after such a late read ends the batch,
/// because that read must not see the second write. So every session's calls take effect in the order of arrival and
/// its reads see exactly its own earlier writes, while calls of different sessions share one `fsync`.
///
/// Pure: no I/O, no clock, no state.
enum BatchPlanner {
    /// The effect of a call on the store.
    enum Effect: Sendable {
        case read
        case write
    }

    /// The properties of a waiting call that the planner uses.
    struct Item: Sendable {
        var session: SessionID
        var effect: Effect
        /// The length of the call's options.
        var sizeBytes: Int
    }

    /// Positions in the queue, each list in the order of arrival.
    struct Batch: Sendable, Equatable {
        /// Reads to execute before the transaction.
        var before: [Int] = []
        /// Writes to execute in one transaction.
        var writes: [Int] = []
        /// Reads to execute after the commit.
        var after: [Int] = []
        /// The number of items that the batch takes from the front of the queue.
        var count: Int { before.count + writes.count + after.count }
    }

    /// The limits of a batch.
    struct Bounds: Sendable {
        /// Calls in one batch. Beyond a hundred, sharing an `fsync` gains little. The loop thread would be idle while
        /// the batch is written, and the lane while the loop thread answers the calls.
        var calls = 128
        /// Bytes of options in one batch. This keeps a transaction small compared with SQLite's page cache and the log.
        var sizeBytes = 4 << 20
    }

    /// How the calls of one session in the batch constrain its next call.
    private enum Progress {
        case wrote
        case readAfterWriting
    }

    /// Returns the batch to execute next. It has at least one item if the queue is not empty, however large that item
    /// is.
    static func plan(_ queue: some Sequence<Item>, bounds: Bounds = Bounds()) -> Batch {
        var batch = Batch()
        var sizeBytes = 0
        var progress: [SessionID: Progress] = [:]
        for (index, item) in queue.enumerated() {
            sizeBytes += item.sizeBytes
            if index > 0, index >= bounds.calls || sizeBytes > bounds.sizeBytes { return batch }
            switch (item.effect, progress[item.session]) {
            case (.read, nil):
                batch.before.append(index)
            case (.read, .some):
                batch.after.append(index)
                progress[item.session] = .readAfterWriting
            case (.write, .readAfterWriting):
                return batch
            case (.write, _):
                batch.writes.append(index)
                progress[item.session] = .wrote
            }
        }
        return batch
    }
}

/// The progress of a batch, which ends early when its time is over.
struct BatchProgress {
    private var isDone: [Bool]
    /// The user of each call.
    private let users: [UInt32]
    /// No call at this position or later is begun.
    private var end: Int
    private var hasBegun = false
    private let slice: Slice
    /// Users whose last call took more than a slice. Their next call begins a new batch, so that no other user's commit
    /// waits for it.
    private(set) var slowUsers: Set<UInt32>

    /// - Parameter users: The user of each call of the batch.
    init(users: [UInt32], slow slowUsers: Set<UInt32>, _ slice: Slice) {
        isDone = Array(repeating: false, count: users.count)
        end = users.count
        (self.users, self.slowUsers, self.slice) = (users, slowUsers, slice)
    }

    /// Whether there is time for the call at a position. If not, no later call may begin either: it may belong to the
    /// same session.
    ///
    /// The front of the queue may always begin. If it is a write, reads behind it are executed first. If these could
    /// use up its time, it would wait as long as reads follow.
    mutating func mayBegin(_ position: Int) -> Bool {
        if position > 0, position < end, hasBegun, slowUsers.contains(users[position]) || slice.isOver {
            end = position
        }
        return position < end
    }

    /// Does the work of the call at a position, which has begun, and records whether it took long.
    mutating func timing<T>(_ position: Int, _ work: () throws -> T) rethrows -> T {
        let own = slice.another()
        defer {
            if own.isOver { slowUsers.insert(users[position]) } else { slowUsers.remove(users[position]) }
        }
        return try work()
    }

    /// Begins the call at a position if there is time, and marks it as executed.
    mutating func begin(_ position: Int) -> Bool {
        guard mayBegin(position) else { return false }
        isDone[position] = true
        hasBegun = true
        return true
    }

    /// Whether the call at a position fails together with the begun calls. If so, it is marked as executed.
    mutating func fail(_ position: Int) -> Bool {
        guard position < end else { return false }
        isDone[position] = true
        return true
    }

    /// Returns the calls that were not executed, in order.
    ///
    /// - Parameter calls: The calls of the batch, and others behind them.
    func left<Call>(of calls: [Call]) -> [Call] {
        calls.enumerated().filter { !isDone.indices.contains($0.offset) || !isDone[$0.offset] }.map(\.element)
    }
}

/// The outcome of the calls that a lane took.
struct LaneOutcome {
    /// The calls that continue to wait, in order.
    var left: [any StoreCall] = []
    /// Whether the storage did not fail.
    var isSound = true
}
