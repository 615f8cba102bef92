public import EventLoop

/// The turns of the main loop that took long: meanwhile no window is drawn, and no page is answered.
///
/// A turn is what runs between two waits for events. The CPU time of the main thread counts, not what other programs
/// of the machine take.
public struct LongTurns: Sendable, Hashable {
    /// Turns of more CPU time are long: a screen misses a frame.
    public static let limit = Duration.milliseconds(16)

    /// How many turns were long.
    public var count: Int { counts.values.reduce(0, +) }
    /// The maximum CPU time of a turn, of those of more than 5 ms.
    public private(set) var longest = Duration.zero
    /// The maximum CPU time that the program's own callbacks took of such a turn.
    public private(set) var longestOwn = Duration.zero
    /// The maximum time by the clock of such a turn: with what the main thread waited for.
    public private(set) var longestByClock = Duration.zero
    /// How many turns were long, by what took most of each: `toolkit` is what GTK and the engine do by themselves, the
    /// others are the program's own callbacks.
    public private(set) var counts: [String: Int] = [:]

    /// None.
    public init() {}

    /// Notes a slow turn.
    ///
    /// - Parameters:
    ///   - turn: The turn.
    ///   - work: What took most of it. The names are the program's: there are few.
    ///   - own: The CPU time of the program's callbacks.
    public mutating func note(_ turn: SlowTurn, of work: String, own: Duration) {
        if turn.cpuTime > Self.limit { counts[work, default: 0] += 1 }
        longest = max(longest, turn.cpuTime)
        longestOwn = max(longestOwn, own)
        longestByClock = max(longestByClock, turn.duration)
    }
}
