/// Counters of the runtime as a whole.
public struct RuntimeStatistics: Sendable {
    /// Valid messages.
    public var messages: UInt64 = 0
    /// Lines and batch items that were not valid messages.
    public var invalidMessages: UInt64 = 0
    /// Replies to calls that had ended: late replies and duplicates.
    public var droppedReplies: UInt64 = 0
    /// Calls that were refused with an error before they began: unknown tasks, missing permissions, limits.
    public var refusedCalls: UInt64 = 0
    /// Events dropped for slow readers.
    public var droppedEvents: UInt64 = 0
    /// Sessions opened since the start.
    public var sessionsOpened: UInt64 = 0
}

/// The counters of the runtime, which its components increment. Loop thread only.
final class RuntimeCounters {
    @exclusivity(unchecked) var values = RuntimeStatistics()
}
