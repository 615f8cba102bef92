public import EventLoop

/// Statistics of the main loop's long turns. During a turn no window is drawn, and no page is answered.
///
/// A turn is the work between two waits for events. Only the CPU time of the main thread counts, not the time that
/// other programs use.
public struct LongTurns: Sendable, Hashable {
    /// The CPU time above which a turn is long: a screen misses a frame.
    public static let limit = Duration.milliseconds(16)

    /// The number of long turns.
    public var count: Int { counts.values.reduce(0, +) }
    /// The maximum CPU time of a turn, among those of more than 5 ms.
    public private(set) var longest = Duration.zero
    /// The maximum CPU time of the program's own callbacks in such a turn.
    public private(set) var longestOwn = Duration.zero
    /// The maximum wall time of such a turn, including the waits of the main thread.
    public private(set) var longestByClock = Duration.zero
    /// The number of long turns by the work that used most of each. `toolkit` is the work of GTK and the engine, the
    /// other names are the program's own callbacks.
    public private(set) var counts: [String: Int] = [:]

    /// Creates empty statistics.
    public init() {}

    /// Notes a slow turn.
    ///
    /// - Parameters:
    ///   - turn: The turn.
    ///   - work: The name of the work that used most of it. The program defines these names, so there are few.
    ///   - own: The CPU time of the program's callbacks.
    public mutating func note(_ turn: SlowTurn, of work: String, own: Duration) {
        if turn.cpuTime > Self.limit { counts[work, default: 0] += 1 }
        longest = max(longest, turn.cpuTime)
        longestOwn = max(longestOwn, own)
        longestByClock = max(longestByClock, turn.duration)
    }
}
