import BridgeMessage

/// An event on its way to a session. What is long is shared with other sessions.
struct EventLine {
    /// What is the session's own; mostly nothing.
    var head: [UInt8] = []
    /// The line, or the rest of it.
    let tail: SharedLine

    var count: Int { head.count + tail.bytes.count }

    func append(to output: OutputBuffer) {
        if !head.isEmpty { head.withUnsafeBytes { output.append($0) } }
        output.append(tail.bytes)
    }
}

/// An event as a line, written once for each dialect that asks, and for listeners.
final class EventLines {
    /// The event that says how many others were dropped.
    static let droppedEvents = "bridge.events_dropped"

    let name: String
    private let data: [UInt8]
    private let isRetained: Bool
    private var lines: [(dialect: DialectID, line: SharedLine)] = []
    /// What the lines of all listeners end with.
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

    /// The line for a listener.
    ///
    /// - Parameter id: its id as it was written.
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
