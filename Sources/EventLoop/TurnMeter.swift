/// A slow turn of the loop, of more than 5 ms, during which all clients waited.
public struct SlowTurn: Sendable, Hashable {
    /// The elapsed time.
    public var duration: Duration
    /// The CPU time of the loop thread in it. It may be up to a millisecond too high, because short turns right before
    /// it may be included.
    public var cpuTime: Duration

    /// Creates a slow turn.
    public init(duration: Duration, cpuTime: Duration) {
        self.duration = duration
        self.cpuTime = cpuTime
    }
}

/// Measures the CPU time of slow turns at low cost: reading a thread's CPU clock takes 0.3 to 0.6 µs, the monotonic
/// clock 0.02 µs. The CPU clock is read at the end of a turn, at most once a millisecond, and also at the end of a slow
/// turn.
public struct TurnMeter: Sendable, Hashable {
    /// The length above which a turn is slow.
    public static let slowNanoseconds: UInt64 = 5_000_000
    /// The maximum age of the last reading from which the next turn is measured.
    static let markNanoseconds: UInt64 = 1_000_000

    private var markedAt: UInt64 = 0
    private var mark: UInt64 = 0

    /// Creates a meter without measurements.
    public init() {}

    /// Records a turn that has ended.
    ///
    /// - Parameters:
    ///   - start: The beginning of the turn, on the monotonic clock, in nanoseconds.
    ///   - end: The end of the turn.
    ///   - readCPU: Reads the CPU clock of the loop thread, in nanoseconds.
    /// - Returns: The CPU time of the turn; `nil` if it was not slow.
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
