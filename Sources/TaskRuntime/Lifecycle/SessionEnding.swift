import BridgeJSON
import BridgeMessage

/// The end of a session, or of its input: call by call, task by task, within its user's share of the loop.
final class SessionEnding: StepJob {
    /// How a session ends.
    enum End {
        /// It sends nothing more: what it provides ends.
        case input
        /// It is gone.
        case hangUp
        /// It is closed, and gets this event as the last one.
        case closing(event: String, JSON)
    }

    let session: Session?
    private let ending: Session
    private let lifecycle: SessionLifecycle
    private let end: End

    init(_ session: Session, _ end: End, _ lifecycle: SessionLifecycle) {
        self.session = session
        ending = session
        self.lifecycle = lifecycle
        self.end = end
    }

    func step(until budget: StepBudget) -> StepOutcome {
        while endNext() {
            if budget.isSpent { return .unfinished }
        }
        finish()
        return .done
    }

    /// Ends one thing; false where nothing is left.
    private func endNext() -> Bool {
        if endCall() || leaveStream() { return true }
        if let name = ending.registrations.first {
            lifecycle.clients.unregister(name, by: ending)
            return true
        }
        guard let call = ending.providedCalls.first else { return false }
        lifecycle.calls.end(
            call,
            error: BridgeError(
                .providerClosed, "the client that provides the task has gone", data: ["started": true],
                isTransient: true))
        return true
    }

    private func endCall() -> Bool {
        guard let call = lifecycle.calls.first(madeBy: ending) else { return false }
        switch end {
        case .input: return false
        case .hangUp:
            lifecycle.calls.abort(call, BridgeError(.callCancelled, "the caller is gone"), reason: .gone)
        case .closing:
            lifecycle.calls.abort(call, BridgeError(.callCancelled, "the session was closed"), reason: .caller)
        }
        return true
    }

    /// The client may still read, and is still answered, where it has only ended its input.
    private func leaveStream() -> Bool {
        if case .input = end { return false }
        return lifecycle.streams.leaveNext(of: ending.streamHolder)
    }

    private func finish() {
        switch end {
        case .input: lifecycle.calls.closeIfDone(ending)
        case .hangUp:
            lifecycle.events.endListening(ending)
            lifecycle.forget(ending)
        case .closing(let event, let data):
            // The connection may have gone meanwhile: another job follows then.
            guard ending.phase == .closing else { return }
            lifecycle.events.endListening(ending)
            lifecycle.events.delivery.refill(ending)
            data.bytes.withUnsafeBytes {
                MessageEncoder.event(in: ending.eventDialect, name: event, data: $0, to: ending.output)
            }
            lifecycle.output.markDirty(ending)
            ending.transport?.closeWhenWritten()
        }
    }
}
