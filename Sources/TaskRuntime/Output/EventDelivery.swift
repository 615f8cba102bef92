import BridgeJSON
import BridgeMessage

/// Delivers lines of events to sessions, in order, and never waits for a slow reader. Loop thread only.
final class EventDelivery {
    private let output: SessionOutput
    private let quotas: Quotas
    private let counters: RuntimeCounters

    init(_ output: SessionOutput, _ quotas: Quotas, _ counters: RuntimeCounters) {
        self.output = output
        self.quotas = quotas
        self.counters = counters
    }

    /// The length from which lines are not copied for each receiver.
    private static var sharedLineBytes: Int { 4 * 1024 }

    /// Sends a line to a session, or appends it to the waiting events.
    func send(_ line: EventLine, to session: Session) {
        if session.events.isEmpty, session.output.count < Session.slowReaderBytes, line.count < Self.sharedLineBytes {
            line.append(to: session.output)
            output.markDirty(session)
        } else if !hasRoomForEvent(line, session) {
            drop(for: session)
            output.markDirty(session)
        } else if session.events.isEmpty, session.output.isEmpty {
            session.output.lead(line.head, with: line.tail)
            quotas.countQueued(session)
            output.markDirty(session)
        } else {
            let dropped = session.events.append(line, limits: quotas.limits)
            counters.values.droppedEvents += UInt64(dropped)
            quotas.countQueued(session)
            output.markDirty(session)
        }
    }

    /// Sends an event to a session: to its listeners for this event, or to the session itself if it has none.
    func send(_ event: EventLines, to session: Session) {
        let ids = session.listeners.isEmpty ? [] : session.listeners.ids(for: event.name)
        if ids.isEmpty { return send(event.line(in: session.eventDialect), to: session) }
        for id in ids { send(event.line(for: id), to: session) }
    }

    /// Counts a line that is dropped. The session is informed of the number of dropped lines.
    func drop(for session: Session) {
        session.events.drop()
        counters.values.droppedEvents += 1
    }

    /// Returns whether the quotas have room for a line. A shared line counts in full for each of its receivers, before
    /// it waits.
    private func hasRoomForEvent(_ line: EventLine, _ session: Session) -> Bool {
        !quotas.isOverQuota(session) && quotas.hasRoom(for: line.count, of: session.account)
    }

    /// Moves waiting events to the output, as far as there is room.
    func refill(_ session: Session) { moveEvents(of: session, below: Session.slowReaderBytes) }

    /// Moves all waiting events to the output, without a limit.
    func moveAll(of session: Session) { moveEvents(of: session, below: .max) }

    private func moveEvents(of session: Session, below limitBytes: Int) {
        guard !session.events.isEmpty else { return }
        let dropped = session.events.takeUnreportedDrops()
        if dropped > 0 {
            let data: JSON = ["count": .number(JSONNumber(dropped))]
            data.bytes.withUnsafeBytes {
                MessageEncoder.event(
                    in: session.eventDialect, name: EventLines.droppedEvents, data: $0, to: session.output)
            }
        }
        while session.output.count < limitBytes, let line = session.events.first {
            // A long line waits until the output is empty, so that it need not be copied.
            if session.output.isEmpty, line.count >= Self.sharedLineBytes {
                session.output.lead(line.head, with: line.tail)
            } else if line.count < Self.sharedLineBytes || limitBytes == .max {
                line.append(to: session.output)
            } else {
                break
            }
            _ = session.events.popFirst()
        }
        output.markDirty(session)
    }
}
