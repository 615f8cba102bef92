import TaskKit

/// Decides which of the waiting calls share one commit.
///
/// A batch is a prefix of the queue, carried out in three steps: the reads of sessions that have no earlier write in
/// it; then every write, in the order of arrival, in one transaction; then, after the commit, the reads of sessions
/// that do have an earlier write in it. A session that writes again after such a late read ends the batch, because
/// that read must not see the second write. So every session's calls take effect in the order in which they came
/// and its reads see exactly its own earlier writes, while calls of different sessions share one `fsync`.
///
/// Pure: no I/O, no clock, no state.
enum BatchPlanner {
    /// What a call does to the store.
    enum Effect: Sendable {
        case read
        case write
    }

    /// What the planner needs to know of a waiting call.
    struct Item: Sendable {
        var session: SessionID
        var effect: Effect
        /// The length of the call's options.
        var sizeBytes: Int
    }

    /// Positions in the queue, each list in the order of arrival.
    struct Batch: Sendable, Equatable {
        /// Reads to carry out before the transaction.
        var before: [Int] = []
        /// Writes to carry out in one transaction.
        var writes: [Int] = []
        /// Reads to carry out after the commit.
        var after: [Int] = []
        /// How many items of the queue's front the batch takes: all of the three lists together.
        var count: Int { before.count + writes.count + after.count }
    }

    /// How far a batch may grow.
    struct Bounds: Sendable {
        /// Calls in one batch: past a hundred, sharing an `fsync` gains little, and the loop thread would have nothing
        /// to do until all that wait are written, and the lane nothing while it then answers them all.
        var calls = 128
        /// Options in one batch, so that one transaction stays small against SQLite's page cache and the log.
        var sizeBytes = 4 << 20
    }

    /// How the calls of one session in the batch constrain its next one.
    private enum Progress {
        case wrote
        case readAfterWriting
    }

    /// The batch to carry out next. Takes at least one item of a queue that is not empty, however large that is.
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

/// How far a batch has come, and where it ends because its time is over.
struct BatchProgress {
    private var isDone: [Bool]
    /// Whose each call is.
    private let users: [UInt32]
    /// No call from here on is begun.
    private var end: Int
    private var hasBegun = false
    private let slice: Slice
    /// Users whose last call took more than a slice. No other user's commit waits for their next one: it begins a
    /// batch.
    private(set) var slowUsers: Set<UInt32>

    /// - Parameter users: Whose each call of the batch is.
    init(users: [UInt32], slow slowUsers: Set<UInt32>, _ slice: Slice) {
        isDone = Array(repeating: false, count: users.count)
        end = users.count
        (self.users, self.slowUsers, self.slice) = (users, slowUsers, slice)
    }

    /// Whether there is time for the call at a position. Where there is none, there is none for any behind it: each may
    /// be of the same session.
    ///
    /// There always is for the front of the queue. Where that is a write, reads behind it are carried out first: if
    /// they used its time up, it would wait for as long as reads follow.
    mutating func mayBegin(_ position: Int) -> Bool {
        if position > 0, position < end, hasBegun, slowUsers.contains(users[position]) || slice.isOver {
            end = position
        }
        return position < end
    }

    /// Does the work of the call at a position, which was begun, and notes whether it took long.
    mutating func timing<T>(_ position: Int, _ work: () throws -> T) rethrows -> T {
        let own = slice.another()
        defer {
            if own.isOver { slowUsers.insert(users[position]) } else { slowUsers.remove(users[position]) }
        }
        return try work()
    }

    /// The same; the call is carried out then.
    mutating func begin(_ position: Int) -> Bool {
        guard mayBegin(position) else { return false }
        isDone[position] = true
        hasBegun = true
        return true
    }

    /// Whether the call at a position fails with those that were begun; it is as good as carried out then.
    mutating func fail(_ position: Int) -> Bool {
        guard position < end else { return false }
        isDone[position] = true
        return true
    }

    /// The calls that were not carried out, in order.
    ///
    /// - Parameter calls: Those of the batch, and others behind them.
    func left<Call>(of calls: [Call]) -> [Call] {
        calls.enumerated().filter { !isDone.indices.contains($0.offset) || !isDone[$0.offset] }.map(\.element)
    }
}

/// What became of calls that a lane took.
struct LaneOutcome {
    /// Those that wait on, in order.
    var left: [any StoreCall] = []
    /// The storage did not fail.
    var isSound = true
}
