// How often a plugin process that fails is started again. Neither clock nor chance of its own.
import EventLoop

/// The pauses between a process's faults and its next start, and when it is given up.
struct RestartPolicy {
    /// Before the first start after a fault.
    static let firstPause = Duration.milliseconds(100)
    /// No pause is longer.
    static let maximumPause = Duration.seconds(30)
    /// A pause is up to so much shorter or longer, so that processes that fail together do not start together.
    static let jitter = 0.2
    /// Without a fault for so long, pauses begin again.
    static let goodTime = Duration.seconds(60)
    /// So many faults within ``goodTime`` are too many.
    static let maximumFaults = 5

    private var faults: [MonotonicInstant] = []
    private var pause = firstPause

    /// A fault has happened.
    ///
    /// - Parameter chance: from 0 to 1: where within its jitter the pause lies.
    /// - Returns: how long to wait before the next start; nil: there shall be none.
    mutating func fault(at now: MonotonicInstant, chance: Double) -> Duration? {
        if let last = faults.last, now - last >= Self.goodTime { pause = Self.firstPause }
        faults.removeAll { now - $0 >= Self.goodTime }
        faults.append(now)
        guard faults.count < Self.maximumFaults else { return nil }
        defer { pause = min(pause * 2, Self.maximumPause) }
        return pause * (1 - Self.jitter + 2 * Self.jitter * chance)
    }
}
