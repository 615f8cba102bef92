import BridgeJSON
import BridgeMessage

// From the first byte of a session to its last.
extension TaskRuntime {
    /// A client has connected.
    public func open(_ peer: PeerIdentity, transport: (any SessionTransport)?) -> Session {
        lastSessionNumber += 1
        counters.sessionsOpened += 1
        let session = Session(
            number: lastSessionNumber, peer: peer, account: account(of: peer), openedAt: clock.now, transport: transport
        )
        session.account.connections += 1
        sessions[session.number] = session
        tellPlugins(.opened, session)
        publish(
            "session.opened",
            data: ["session": .number(JSONNumber(session.number)), "uid": .number(JSONNumber(UInt64(peer.uid)))])
        return session
    }

    /// The client sends nothing more, but may still read. It keeps what it is owed; what it provides ends.
    public func endInput(of session: Session) {
        guard session.phase == .open else { return }
        session.phase = .inputEnded
        endProviding(session)
        closeIfDone(session)
    }

    /// The client is gone, or is to be treated so: its calls are cancelled, and nobody is told of their end.
    public func hangUp(_ session: Session) {
        guard session.phase != .closed else { return }
        session.phase = .closed
        cancelCalls(of: session, BridgeError(.callCancelled, "the caller is gone"), reason: .gone)
        forget(session)
    }

    /// Closes a session for its user's sake or an operator's: calls by it end with `call.cancelled`, calls to it with
    /// `session.closed`, and it hears of it before the connection ends.
    func close(_ session: Session, info: JSON) {
        guard session.phase == .open || session.phase == .inputEnded else { return }
        close(session, saying: "web.close", ["info": info])
    }

    /// Closes a session that is open, or has ended its input; the event is the last thing that it gets.
    func close(_ session: Session, saying event: String, _ data: JSON) {
        session.phase = .closing
        cancelCalls(of: session, BridgeError(.callCancelled, "the session was closed"), reason: .caller)
        endProviding(session)
        endListening(session)
        refillEvents(of: session)
        data.bytes.withUnsafeBytes {
            MessageEncoder.event(in: session.eventDialect, name: event, data: $0, to: session.output)
        }
        markDirty(session)
        session.transport?.closeWhenWritten()
    }

    /// The connection of a closing session has been closed.
    public func didClose(_ session: Session) { hangUp(session) }

    /// Where a client that has ended its input has got everything, its connection ends too.
    func closeIfDone(_ session: Session) {
        guard session.phase == .inputEnded, session.callsInFlight == 0 else { return }
        session.phase = .closing
        endListening(session)
        session.transport?.closeWhenWritten()
    }

    private func cancelCalls(of session: Session, _ error: BridgeError, reason: CancelReason) {
        guard session.callsInFlight > 0 else { return }
        for call in calls.inFlight where call.origin == .session && call.session === session {
            abort(call, error, reason: reason)
        }
    }

    /// What the session provides is gone, and calls that it was working on end.
    private func endProviding(_ session: Session) {
        for name in session.registrations { unregister(name, by: session) }
        let error = BridgeError(
            .sessionClosed, "the client that provides the task has gone", data: ["started": true], isTransient: true)
        guard session.forwardedCount > 0 else { return }
        for handle in calls.inFlight.filter({ $0.isHanded(to: session) }).map(\.handle) {
            if let call = calls.call(handle) { end(call, error: error) }
        }
    }

    private func endListening(_ session: Session) {
        session.patterns = []
        subscribers.removeAll { $0 === session }
        if isMonitored { unwatchTraffic(session) }
    }

    private func forget(_ session: Session) {
        endProviding(session)
        endListening(session)
        session.transport = nil
        session.output.releaseMemory()
        guard sessions.removeValue(forKey: session.number) != nil else { return }
        settleAccount(of: session)
        forgottenSessions.append(session)
        tellPlugins(.closed, session)
        publish("session.closed", data: ["session": .number(JSONNumber(session.number))])
    }

    private func tellPlugins(_ change: SessionChange, _ session: Session) {
        for plugin in plugins { plugin.tell(change, session) }
    }
}

/// What happens to a session, as plugins are told.
public enum SessionChange: UInt32, Sendable {
    /// It has connected.
    case opened = 0
    /// It has gone.
    case closed = 1
    /// Its page went to the background.
    case background = 2
    /// Its page came to the foreground.
    case foreground = 3
}
