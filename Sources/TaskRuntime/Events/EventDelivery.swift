public import BridgeJSON
import BridgeMessage

// Events: to those who subscribed, in order, without ever waiting for a slow reader.
extension TaskRuntime {
    /// Sends an event to every session that subscribed to its name.
    public func publish(_ name: String, data: JSON) {
        guard !subscriptions.isEmpty || isMonitored else { return }
        publish(name, data: data.bytes)
    }

    /// Sends an event, whose data are JSON, to every session that subscribed to its name.
    ///
    /// - Parameter isRetained: Whether later subscribers get it as well.
    func publish(_ name: String, data: [UInt8], isRetained: Bool = false) {
        deliver(name, data, isRetained: isRetained, to: subscriptions.sessions(for: name).filter { mayGet(name, $0) })
    }

    /// Sends an event to some sessions only: to those of them that subscribed, or directly to all of them.
    ///
    /// - Parameter data: JSON, checked.
    /// - Returns: Why the event is not sent; nil: it is.
    @discardableResult
    public func publish(
        _ name: String, data: UnsafeRawBufferPointer, to numbers: [UInt64]?, direct: Bool, isRetained: Bool = false
    ) -> String? {
        if let fault = fault(inEventName: name) { return fault }
        guard let numbers else {
            publish(name, data: Array(data), isRetained: isRetained)
            return nil
        }
        // Each once, however often it was named.
        let named = Set(numbers).sorted().compactMap { sessions[$0] }
        // Whom a plugin names may get what it sends: that is the plugin's to know.
        deliver(name, Array(data), to: direct ? named : subscriptions.those(of: named, listeningTo: name))
        return nil
    }

    /// What is wrong with an event's name; nil: nothing.
    func fault(inEventName name: String) -> String? {
        guard !PublicName.isAllowed(name) else { return nil }
        return "the name of an event is \(PublicName.rule); this one is \(JSON.string(String(name.prefix(64))).text)"
    }

    private func deliver(_ name: String, _ data: [UInt8], isRetained: Bool = false, to receivers: [Session]) {
        if isMonitored { showEvent(name, data, to: receivers) }
        let event = EventLines(name, data, isRetained: isRetained)
        for session in receivers where session.phase == .open || session.phase == .inputEnded {
            if session.listeners.isEmpty {
                send(event.line(in: session.eventDialect), to: session)
            } else {
                sendToListeners(event, session)
            }
        }
    }

    /// Lines from this length on are not copied for each receiver.
    private static var sharedLineBytes: Int { 4 * 1024 }

    /// Sends a line to a session, or has it wait behind the events that wait.
    func send(_ line: EventLine, to session: Session) {
        if session.events.isEmpty, session.output.count < Self.slowReaderBytes, line.count < Self.sharedLineBytes {
            line.append(to: session.output)
            markDirty(session)
        } else if !hasRoomForEvent(line, session) {
            session.events.drop()
            counters.droppedEvents += 1
            markDirty(session)
        } else if session.events.isEmpty, session.output.isEmpty {
            session.output.lead(line.head, with: line.tail)
            countQueued(session)
            markDirty(session)
        } else {
            let dropped = session.events.append(line, limits: limits)
            counters.droppedEvents += UInt64(dropped)
            countQueued(session)
            markDirty(session)
        }
    }

    /// A shared line counts in full for each of its receivers, and before it waits.
    private func hasRoomForEvent(_ line: EventLine, _ session: Session) -> Bool {
        !isOverQuota(session) && hasRoom(for: line.count, of: session.account)
    }

    /// The client has read on: what waited for it goes out, as far as there is room. The server calls this when the
    /// session's output has shrunk.
    public func refill(_ session: Session) {
        guard session.output.count < Self.slowReaderBytes else { return }
        if !session.heldProgress.isEmpty {
            let handles = session.heldProgress
            session.heldProgress = []
            for handle in handles {
                if let call = calls.call(handle) { writeHeldProgress(of: call, to: session) }
            }
        }
        refillEvents(of: session)
    }

    func refillEvents(of session: Session) { moveEvents(of: session, below: Self.slowReaderBytes) }

    /// Moves all events that wait to the output, however long that grows.
    func moveEventsToOutput(of session: Session) { moveEvents(of: session, below: .max) }

    private func moveEvents(of session: Session, below limitBytes: Int) {
        guard !session.events.isEmpty else { return }
        let dropped = session.events.takeUnreportedDrops()
        if dropped > 0 {
            let data: JSON = ["count": .number(JSONNumber(dropped))]
            data.bytes.withUnsafeBytes {
                MessageEncoder.event(
                    in: session.eventDialect, name: Self.droppedEvents, data: $0, to: session.output)
            }
        }
        while session.output.count < limitBytes, let line = session.events.first {
            // Long lines wait until nothing else does, so that they need not be copied.
            if session.output.isEmpty, line.count >= Self.sharedLineBytes {
                session.output.lead(line.head, with: line.tail)
            } else if line.count < Self.sharedLineBytes || limitBytes == .max {
                line.append(to: session.output)
            } else {
                break
            }
            _ = session.events.popFirst()
        }
        markDirty(session)
    }
}

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
