/// What happened in the runtime as a whole.
public struct RuntimeStatistics: Sendable {
    /// Messages that made sense.
    public var messages: UInt64 = 0
    /// Lines and items that were none.
    public var invalidMessages: UInt64 = 0
    /// Replies to calls that had ended: late ones and second ones.
    public var droppedReplies: UInt64 = 0
    /// Calls that were answered with an error and not begun: unknown tasks, missing permissions, bounds.
    public var refusedCalls: UInt64 = 0
    /// Events that slow readers missed.
    public var droppedEvents: UInt64 = 0
    /// Sessions since the start.
    public var sessionsOpened: UInt64 = 0
}

/// The counters of the runtime, which its components count in. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class RuntimeCounters {
    @exclusivity(unchecked) var values = RuntimeStatistics()
}
