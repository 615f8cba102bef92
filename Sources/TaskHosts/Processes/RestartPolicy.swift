// The restarts of a plugin process that fails. This has no clock and no random numbers of its own.
import EventLoop

/// Computes the pause between a process's fault and its next start, and decides when it is not started again.
struct RestartPolicy {
    /// The pause after the first fault.
    static let firstPause = Duration.milliseconds(100)
    /// The maximum pause, before jitter.
    static let maximumPause = Duration.seconds(30)
    /// The maximum relative change of a pause in both directions, so that processes that fail together do not start
    /// together.
    static let jitter = 0.2
    /// The time without a fault after which pauses start again with the first one.
    static let goodTime = Duration.seconds(60)
    /// The number of faults within ``goodTime`` after which the process is not started again.
    static let maximumFaults = 5

    private var faults: [MonotonicInstant] = []
    private var pause = firstPause

    /// Notes a fault.
    ///
    /// - Parameter chance: The position of the pause within its jitter, from 0 to 1.
    /// - Returns: The pause before the next start; `nil` if the process must not be started again.
    mutating func fault(at now: MonotonicInstant, chance: Double) -> Duration? {
        if let last = faults.last, now - last >= Self.goodTime { pause = Self.firstPause }
        faults.removeAll { now - $0 >= Self.goodTime }
        faults.append(now)
        guard faults.count < Self.maximumFaults else { return nil }
        defer { pause = min(pause * 2, Self.maximumPause) }
        return pause * (1 - Self.jitter + 2 * Self.jitter * chance)
    }
}
