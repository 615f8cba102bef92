import BridgeMessage

/// An event to be sent to a session. The long part is shared with other sessions.
struct EventLine {
    /// The part for this session alone; usually empty.
    var head: [UInt8] = []
    /// The line, or the rest of it.
    let tail: SharedLine

    var count: Int { head.count + tail.bytes.count }

    func append(to output: OutputBuffer) {
        if !head.isEmpty { head.withUnsafeBytes { output.append($0) } }
        output.append(tail.bytes)
    }
}

/// An event as a line, encoded once for each dialect in use and once for listeners.
final class EventLines {
    /// The event that reports the number of dropped events.
    static let droppedEvents = "bridge.events_dropped"

    let name: String
    private let data: [UInt8]
    private let isRetained: Bool
    private var lines: [(dialect: DialectID, line: SharedLine)] = []
    /// The common end of the lines for all listeners.
    private lazy var listenerTail: SharedLine = {
        let output = OutputBuffer()
        data.withUnsafeBytes { EventListener.tail($0, to: output) }
        return SharedLine(output)
    }()

    /// - Parameter data: JSON.
    init(_ name: String, _ data: [UInt8], isRetained: Bool = false) {
        (self.name, self.data, self.isRetained) = (name, data, isRetained)
    }

    /// The event's data, JSON.
    var text: [UInt8] { data }

    /// Returns the line for a listener.
    ///
    /// - Parameter id: The listener's id as it was written.
    func line(for id: [UInt8]) -> EventLine {
        let output = OutputBuffer()
        id.withUnsafeBytes { EventListener.head(of: $0, event: name, to: output) }
        return EventLine(head: output.copy(), tail: listenerTail)
    }

    func line(in dialect: DialectID) -> EventLine {
        if let known = lines.first(where: { $0.dialect == dialect }) { return EventLine(tail: known.line) }
        let output = OutputBuffer()
        data.withUnsafeBytes {
            MessageEncoder.event(in: dialect, name: name, data: $0, isRetained: isRetained, to: output)
        }
        let line = SharedLine(output)
        lines.append((dialect, line))
        return EventLine(tail: line)
    }
}
