/// A turn of the loop that kept all clients waiting.
public struct SlowTurn: Sendable, Hashable {
    /// How long it took by the clock.
    public var duration: Duration
    /// How long the loop's thread worked in it: at most a millisecond too much, because work of short turns right
    /// before it may be counted.
    public var cpuTime: Duration

    /// A turn.
    public init(duration: Duration, cpuTime: Duration) {
        self.duration = duration
        self.cpuTime = cpuTime
    }
}

/// Measures the CPU time of slow turns, for little: a thread's CPU clock takes 0.3 to 0.6 µs to read, the monotonic one
/// 0.02. A mark is taken at the end of a turn, at most once a millisecond; the clock is read once more where a turn was
/// slow.
public struct TurnMeter: Sendable, Hashable {
    /// Turns beyond this are slow.
    public static let slowNanoseconds: UInt64 = 5_000_000
    /// How old a mark may be that the next turn is measured from.
    static let markNanoseconds: UInt64 = 1_000_000

    private var markedAt: UInt64 = 0
    private var mark: UInt64 = 0

    /// A meter that has seen no turn.
    public init() {}

    /// Notes a turn that has ended.
    ///
    /// - Parameters:
    ///   - start: when it began, on the monotonic clock, in nanoseconds.
    ///   - end: when it ended.
    ///   - readCPU: reads the CPU clock of the loop's thread, in nanoseconds.
    /// - Returns: the CPU time that it took, where it was slow.
    @inline(__always)
    public mutating func note(from start: UInt64, to end: UInt64, readCPU: () -> UInt64) -> UInt64? {
        let isSlow = end &- start > Self.slowNanoseconds
        guard isSlow || end &- markedAt >= Self.markNanoseconds else { return nil }
        let earlier = mark
        mark = readCPU()
        markedAt = end
        return isSlow ? mark &- earlier : nil
    }
}
