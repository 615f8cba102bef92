import BridgeMessage
import DequeModule

/// Events that wait for a session whose reader is slow: bounded in number and bytes, the oldest dropped first.
struct EventQueue {
    private var lines: Deque<EventLine> = []
    private(set) var queuedBytes = 0
    /// Dropped and not yet reported.
    private(set) var unreportedDrops = 0

    var isEmpty: Bool { lines.isEmpty && unreportedDrops == 0 }
    var count: Int { lines.count }

    /// Takes in an event as a whole line. Returns how many had to go for it, itself included where it is too large.
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

    /// Notes an event that was not even taken in.
    mutating func drop() { unreportedDrops += 1 }

    /// The next event.
    var first: EventLine? { lines.first }

    /// Takes out the next event.
    mutating func popFirst() -> EventLine? {
        guard let line = lines.popFirst() else { return nil }
        queuedBytes -= line.count
        return line
    }

    /// The number of dropped events, which is reported from now on.
    mutating func takeUnreportedDrops() -> Int {
        defer { unreportedDrops = 0 }
        return unreportedDrops
    }
}
