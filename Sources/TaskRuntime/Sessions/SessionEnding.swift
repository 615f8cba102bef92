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
    private let end: End

    init(_ session: Session, _ end: End) {
        self.session = session
        ending = session
        self.end = end
    }

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome {
        while endNext(runtime) {
            if budget.isSpent { return .unfinished }
        }
        finish(runtime)
        return .done
    }

    /// Ends one thing; false where nothing is left.
    private func endNext(_ runtime: TaskRuntime) -> Bool {
        if endCall(runtime) { return true }
        if let name = ending.registrations.first {
            runtime.unregister(name, by: ending)
            return true
        }
        guard let call = ending.providedCalls.first else { return false }
        runtime.end(
            call,
            error: BridgeError(
                .providerClosed, "the client that provides the task has gone", data: ["started": true],
                isTransient: true))
        return true
    }

    private func endCall(_ runtime: TaskRuntime) -> Bool {
        guard let call = ending.madeCalls.first else { return false }
        switch end {
        case .input: return false
        case .hangUp:
            runtime.abort(call, BridgeError(.callCancelled, "the caller is gone"), reason: .gone)
        case .closing:
            runtime.abort(call, BridgeError(.callCancelled, "the session was closed"), reason: .caller)
        }
        return true
    }

    private func finish(_ runtime: TaskRuntime) {
        switch end {
        case .input: runtime.closeIfDone(ending)
        case .hangUp:
            runtime.endListening(ending)
            runtime.forget(ending)
        case .closing(let event, let data):
            // The connection may have gone meanwhile: another job follows then.
            guard ending.phase == .closing else { return }
            runtime.endListening(ending)
            runtime.refillEvents(of: ending)
            data.bytes.withUnsafeBytes {
                MessageEncoder.event(in: ending.eventDialect, name: event, data: $0, to: ending.output)
            }
            runtime.markDirty(ending)
            ending.transport?.closeWhenWritten()
        }
    }
}
