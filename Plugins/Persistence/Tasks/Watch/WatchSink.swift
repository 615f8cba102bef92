import TaskKit

/// Where events of watches go.
protocol WatchSink: Sendable {
    /// Sends an event to sessions that watch, subscribed or not.
    func notify(_ change: RecordChanged, to sessions: [SessionID])

    /// Notifies sessions that watch that a table was replaced as a whole.
    func notify(_ expired: CursorExpired, to sessions: [SessionID])
}
