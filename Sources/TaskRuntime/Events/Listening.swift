import BridgeJSON
import BridgeMessage

// Event listeners, in dialects that have them.
extension EventBus {
    func receive(_ change: ListeningMessage, from session: Session) {
        switch change {
        case .add(let id, let event):
            session.dialects |= id.dialect.bit
            let name = String(decoding: event.prefix(2 * PublicName.maximumBytes), as: UTF8.self)
            do throws(BridgeError) {
                try listen(id, to: name, session)
            } catch {
                answer(id, event: name, session) { MessageEncoder.callback(to: $0, error: error, $1) }
            }
        case .remove(let id):
            if let event = session.listeners.remove(Array(id.text)) { endSubscription(to: event, session) }
        case .removeAll(let beginning, let id):
            for event in session.listeners.removeAll(of: Array(beginning)) { endSubscription(to: event, session) }
            guard let id else { return }
            let task = Array(beginning) + Array("removeAllListeners".utf8)
            answer(id, task: task, session) { address, output in
                Array("{}".utf8).withUnsafeBytes { MessageEncoder.callback(to: address, result: $0, output) }
            }
        }
    }

    private func listen(_ id: CallbackID, to event: String, _ session: Session) throws(BridgeError) {
        guard let pattern = EventPattern(event), !pattern.isPrefix else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.eventName", expected: "the name of an event: \(PublicName.rule)",
                    got: "\"\(event.prefix(64))\""))
        }
        guard id.text.count <= EventListeners.maximumIDBytes else {
            throw BridgeError(
                .messageInvalid, "the id of a listener has at most \(EventListeners.maximumIDBytes) bytes")
        }
        guard session.listeners.ids(for: event).count < EventListeners.maximumOfEvent else {
            throw BridgeError(
                .quotaExceeded,
                "a session has at most \(EventListeners.maximumOfEvent) listeners to the event \(event)")
        }
        try quotas.checkSubscriptions(session.subscriptions.count + session.listeners.count + 1, of: session)
        if !rights.mayGet(event, session) { try rights.check(.subscribe, event, by: session, to: "listen to \(event)") }
        let isNew = session.subscriptions[pattern] == nil
        add(pattern, to: session)
        session.listeners.add(Array(id.text), to: event, isOwn: isNew)
        if let kept = retainedEvent(event), rights.mayGet(event, session) {
            delivery.send(kept.event.line(for: Array(id.text)), to: session)
        }
    }

    private func endSubscription(to event: String, _ session: Session) {
        if let pattern = EventPattern(event) { remove(pattern, from: session) }
    }

    /// Answers a client's message about a listener.
    private func answer(
        _ id: CallbackID, event: String, _ session: Session, _ write: (CallbackAddress, OutputBuffer) -> Void
    ) {
        answer(id, task: EventListener.task(event: event), session, write)
    }

    private func answer(
        _ id: CallbackID, task: [UInt8], _ session: Session, _ write: (CallbackAddress, OutputBuffer) -> Void
    ) {
        task.withUnsafeBytes { task in
            let address = CallbackAddress(id.dialect, id: id.text, task: task)
            output.write(to: session, id.dialect) { write(address, $0) }
        }
    }
}
