import BridgeJSON
import BridgeMessage

/// Sessions from their first byte to their last. Loop thread only.
final class SessionLifecycle {
    let sessions: SessionStore
    let rights: Rights
    let quotas: Quotas
    let events: EventBus
    let monitor: TrafficMonitor
    let calls: CallEngine
    let streams: StreamTable
    let clients: ClientTasks
    let output: SessionOutput
    let clock: any RuntimeClock
    private let directory: PluginDirectory
    private let steps: StepScheduler
    private let turns: LoopTurns
    private let counters: RuntimeCounters

    init(
        _ components: RuntimeComponents, _ calls: CallEngine, _ streams: StreamTable, _ clients: ClientTasks,
        _ directory: PluginDirectory
    ) {
        self.calls = calls
        self.streams = streams
        self.clients = clients
        self.directory = directory
        sessions = components.sessions
        rights = components.rights
        quotas = components.quotas
        events = components.events
        monitor = components.monitor
        output = components.output
        clock = components.clock
        steps = components.steps
        turns = components.turns
        counters = components.counters
    }

    /// Opens a session for a client that has connected.
    func open(_ peer: PeerIdentity, transport: (any SessionTransport)?) -> Session {
        counters.values.sessionsOpened += 1
        let session = Session(
            number: sessions.takeNumber(), peer: peer, account: quotas.account(of: peer), openedAt: clock.now,
            transport: transport)
        session.account.connections += 1
        turns.note(.connection, of: session)
        enter(session)
        events.publish(
            "session.opened",
            data: ["session": .number(JSONNumber(session.number)), "uid": .number(JSONNumber(UInt64(peer.uid)))],
            for: session.account)
        return session
    }

    /// Stores a session and notifies plugins that it opened.
    func enter(_ session: Session) {
        sessions.insert(session)
        directory.notify(.opened, session)
    }

    /// Ends the input of a session; the client may still read. It still gets its pending answers; the tasks that it
    /// provides are removed.
    func endInput(of session: Session) {
        guard session.phase == .open else { return }
        session.phase = .inputEnded
        begin(.input, of: session)
    }

    /// Ends the session of a client that has disconnected, or that is treated as such. Its calls are cancelled without
    /// callbacks.
    func hangUp(_ session: Session) {
        guard session.phase != .closed else { return }
        session.phase = .closed
        turns.note(.connection, of: session)
        session.transport = nil
        begin(.hangUp, of: session)
    }

    /// Closes a session at the request of its user or an operator. Calls by it end with `call.cancelled`, calls to it
    /// with `provider.closed`. It gets an event before the connection ends.
    func close(_ session: Session, info: JSON) { close(session, saying: "web.close", ["info": info]) }

    /// Closes a session that cannot be handed over or resumed, after a message that states the reason.
    func end(_ session: Session, because reason: String) {
        close(session, saying: "session.lost", ["reason": .string(reason)])
    }

    /// Closes a session that is open or has ended its input. The event is its last message.
    private func close(_ session: Session, saying event: String, _ data: JSON) {
        guard session.phase == .open || session.phase == .inputEnded else { return }
        events.catchUp(session)
        session.phase = .closing
        begin(.closing(event: event, data), of: session)
    }

    private func begin(_ end: SessionEnding.End, of session: Session) {
        steps.begin(SessionEnding(session, end, self), for: session.account)
    }

    /// Removes a session whose calls, streams and tasks have all ended.
    func forget(_ session: Session) {
        session.output.removeAll()
        session.output.releaseMemory()
        guard sessions.remove(session) else { return }
        quotas.settleAccount(of: session)
        output.forget(session)
        directory.notify(.closed, session)
        events.publish(
            "session.closed", data: ["session": .number(JSONNumber(session.number))], for: session.account)
    }

    /// Makes the session represent an origin.
    ///
    /// - Throws: `busy` or `quota.exceeded` if its account changes and has no room for the session.
    func speak(for origin: String, _ session: Session) throws(BridgeError) {
        session.speak(for: origin, on: try quotas.account(of: session, for: origin))
        monitor.reconsider(session)
    }
}
