import BridgeMessage
import DequeModule

/// The events that wait for a session whose reader is slow. The queue is bounded in number and bytes; the oldest events
/// are dropped first.
struct EventQueue {
    private var lines: Deque<EventLine> = []
    private(set) var queuedBytes = 0
    /// The number of dropped events that have not been reported.
    private(set) var unreportedDrops = 0

    var isEmpty: Bool { lines.isEmpty && unreportedDrops == 0 }
    var count: Int { lines.count }

    /// Adds an event as a whole line. Returns the number of events dropped for it, including the event itself if it is
    /// too large.
    mutating func append(_ line: EventLine, limits: RuntimeLimits) -> Int {
        lines.append(line)
        queuedBytes += line.count
        var dropped = 0
        while let oldest = lines.first, lines.count > limits.queuedEvents || queuedBytes > limits.queuedEventBytes {
            queuedBytes -= oldest.count
            lines.removeFirst()
            dropped += 1
        }
        unreportedDrops += dropped
        return dropped
    }

    /// Counts an event that was dropped without being queued.
    mutating func drop() { unreportedDrops += 1 }

    /// The next event.
    var first: EventLine? { lines.first }

    /// Removes and returns the next event.
    mutating func popFirst() -> EventLine? {
        guard let line = lines.popFirst() else { return nil }
        queuedBytes -= line.count
        return line
    }

    /// Returns the number of unreported dropped events and resets it: the caller reports them.
    mutating func takeUnreportedDrops() -> Int {
        defer { unreportedDrops = 0 }
        return unreportedDrops
    }
}
