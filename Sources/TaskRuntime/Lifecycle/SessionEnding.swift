import BridgeJSON
import BridgeMessage

/// A job that ends a session or its input: calls and tasks one by one, within its user's share of the loop.
final class SessionEnding: StepJob {
    /// The kind of end.
    enum End {
        /// The client sends nothing more. Its tasks are removed.
        case input
        /// The client has disconnected.
        case hangUp
        /// The session is closed, and gets this event as its last one.
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

    /// Ends one call, stream or task; returns false if nothing is left.
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
                .providerClosed, "the client that provides the task has disconnected", data: ["started": true],
                isTransient: true))
        return true
    }

    private func endCall() -> Bool {
        guard let call = lifecycle.calls.first(madeBy: ending) else { return false }
        switch end {
        case .input: return false
        case .hangUp:
            lifecycle.calls.abort(call, BridgeError(.callCancelled, "the caller has disconnected"), reason: .gone)
        case .closing:
            lifecycle.calls.abort(call, BridgeError(.callCancelled, "the session was closed"), reason: .caller)
        }
        return true
    }

    /// Leaves a stream, unless only the input has ended. In that case the client still reads and gets answers.
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
            // The connection may have closed meanwhile; in this case another job follows.
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
