public import BridgeJSON
import BridgeMessage

// Events: to those who subscribed, in order, without ever waiting for a slow reader.
extension TaskRuntime {
    /// Sends an event to every session that subscribed to its name.
    public func publish(_ name: String, data: JSON) {
        guard !subscribers.isEmpty || isMonitored else { return }
        deliver(
            name, data.bytes, to: subscribers.filter { $0.patterns.contains { $0.matches(name) } && mayGet(name, $0) })
    }

    /// Sends an event to some sessions only: to those of them that subscribed, or unasked to all of them.
    ///
    /// - Parameter data: JSON, checked.
    public func publish(_ name: String, data: UnsafeRawBufferPointer, to numbers: [UInt64]?, unasked: Bool) {
        // Each once, however often it was named.
        let candidates = numbers.map { Set($0).sorted().compactMap { sessions[$0] } } ?? subscribers
        let isUnasked = unasked && numbers != nil
        // Whom a plugin names may get what it sends: that is the plugin's to know.
        let wanted = candidates.filter {
            isUnasked || $0.patterns.contains { $0.matches(name) } && (numbers != nil || mayGet(name, $0))
        }
        deliver(name, Array(data), to: wanted)
    }

    private func deliver(_ name: String, _ data: [UInt8], to receivers: [Session]) {
        if isMonitored { showEvent(name, data, to: receivers) }
        send(name, data, to: receivers)
    }

    func send(_ name: String, _ data: [UInt8], to receivers: [Session]) {
        guard !receivers.isEmpty else { return }
        // Written once for each dialect; there is hardly ever more than one.
        var lines: [DialectID: OutputBuffer] = [:]
        for session in receivers where session.phase == .open || session.phase == .inputEnded {
            let dialect = session.eventDialect
            let line = lines[dialect] ?? OutputBuffer()
            if line.isEmpty {
                data.withUnsafeBytes { MessageEncoder.event(in: dialect, name: name, data: $0, to: line) }
                lines[dialect] = line
            }
            if session.events.isEmpty, session.output.count < Self.slowReaderBytes {
                session.output.append(line.bytes)
                markDirty(session)
            } else if isOverQuota(session) {
                session.events.drop()
                counters.droppedEvents += 1
            } else {
                let dropped = session.events.append(Array(line.bytes), limits: limits)
                counters.droppedEvents += UInt64(dropped)
                countQueued(session)
            }
        }
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
        let dropped = session.events.takeUntoldDrops()
        if dropped > 0 {
            let data: JSON = ["count": .number(JSONNumber(dropped))]
            data.bytes.withUnsafeBytes {
                MessageEncoder.event(
                    in: session.eventDialect, name: "bridge.events_dropped", data: $0, to: session.output)
            }
        }
        while session.output.count < limitBytes, let line = session.events.popFirst() {
            line.withUnsafeBytes { session.output.append($0) }
        }
        markDirty(session)
    }
}
