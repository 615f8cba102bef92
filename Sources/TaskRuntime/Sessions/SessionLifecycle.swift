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
        noteStep(.connection, of: session)
        sessions[session.number] = session
        notifyPlugins(.opened, session)
        publish(
            "session.opened",
            data: ["session": .number(JSONNumber(session.number)), "uid": .number(JSONNumber(UInt64(peer.uid)))])
        return session
    }

    /// The client sends nothing more, but may still read. It keeps what it is owed; what it provides ends.
    public func endInput(of session: Session) {
        guard session.phase == .open else { return }
        session.phase = .inputEnded
        begin(SessionEnding(session, .input), for: session.account)
    }

    /// The client is gone, or is to be treated so: its calls are cancelled, and no one is notified of their end.
    public func hangUp(_ session: Session) {
        guard session.phase != .closed else { return }
        session.phase = .closed
        noteStep(.connection, of: session)
        session.transport = nil
        begin(SessionEnding(session, .hangUp), for: session.account)
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
        begin(SessionEnding(session, .closing(event: event, data)), for: session.account)
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

    func endListening(_ session: Session) {
        subscriptions.removeAll(of: session)
        if isMonitored { unwatchTraffic(session) }
    }

    /// Nothing of the session is left to end.
    func forget(_ session: Session) {
        session.output.removeAll()
        session.output.releaseMemory()
        guard sessions.removeValue(forKey: session.number) != nil else { return }
        settleAccount(of: session)
        forgottenSessions.append(session)
        notifyPlugins(.closed, session)
        publish("session.closed", data: ["session": .number(JSONNumber(session.number))])
    }

    private func notifyPlugins(_ change: SessionChange, _ session: Session) {
        for plugin in plugins { plugin.notify(change, session) }
    }
}

/// What happens to a session, as plugins see it.
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
