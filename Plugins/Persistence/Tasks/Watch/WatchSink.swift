import TaskKit

/// The receiver of the events of watches.
protocol WatchSink: Sendable {
    /// Sends an event to sessions that watch, whether they have subscribed to it or not.
    func notify(_ change: RecordChanged, to sessions: [SessionID])

    /// Notifies sessions that watch that a table was replaced as a whole.
    func notify(_ expired: CursorExpired, to sessions: [SessionID])
}
