public import BridgeJSON
public import BridgeMessage

// What the server, and the handing over to the next daemon, ask the runtime for.
extension TaskRuntime {
    /// A client has connected.
    public func open(_ peer: PeerIdentity, transport: (any SessionTransport)?) -> Session {
        lifecycle.open(peer, transport: transport)
    }

    /// Why a client must not connect; nil: it may.
    public func refusal(ofConnectionBy peer: PeerIdentity) -> BridgeError? { quotas.refusal(ofConnectionBy: peer) }

    /// The client sends nothing more, but may still read. It keeps what it is owed; what it provides ends.
    public func endInput(of session: Session) { lifecycle.endInput(of: session) }

    /// The client is gone, or is to be treated so: its calls are cancelled, and no one is notified of their end.
    public func hangUp(_ session: Session) { lifecycle.hangUp(session) }

    /// The connection of a closing session has been closed.
    public func didClose(_ session: Session) { lifecycle.hangUp(session) }

    /// Closes a session that cannot be handed over, or gone on with, after a message that says why.
    public func end(_ session: Session, because reason: String) { lifecycle.end(session, because: reason) }

    // MARK: Messages

    /// Takes in one decoded item of a session's input. What it borrows need only last until this returns.
    public func receive(_ item: DecodedItem, from session: Session) { router.receive(item, from: session) }

    /// Begins a batch, where it is one of JSON-RPC's: its items are answered by one array.
    ///
    /// - Parameter isRPC: what its first item is; nil: no message.
    /// - Returns: nil where it is none. Where its first item is no message, it is one if the session has spoken nothing
    ///   else, or nothing yet.
    public func openBatch(isRPC: Bool?, of session: Session) -> RPCBatch? {
        rooms.output.openBatch(isRPC: isRPC, of: session)
    }

    /// Items follow later.
    public func suspendBatch(of session: Session) { rooms.output.suspendBatch(of: session) }

    /// Items of a suspended batch follow.
    public func resume(_ batch: RPCBatch, of session: Session) { rooms.output.resume(batch, of: session) }

    /// All items have been received.
    public func close(_ batch: RPCBatch, of session: Session) { rooms.output.close(batch, of: session) }

    // MARK: Output

    /// Sends an event to every session that subscribed to its name.
    public func publish(_ name: String, data: JSON) { events.publish(name, data: data) }

    /// The client has read on: what waited for it goes out, as far as there is room. The server calls this when the
    /// session's output has shrunk.
    public func refill(_ session: Session) {
        guard session.output.count < Session.slowReaderBytes else { return }
        calls.writeHeldProgress(to: session)
        streams.refill(session)
        rooms.delivery.refill(session)
    }

    /// Counts again what is held for a session. The server calls this where output was left unwritten, and where a line
    /// is long in coming.
    public func countQueued(_ session: Session) { quotas.countQueued(session) }

    /// Whether more is held for the session's user, or for all, than may be.
    public func isOverQuota(_ session: Session) -> Bool { quotas.isOverQuota(session) }

    /// What is said of a line that was discarded because there is no room to wait for its end.
    public func lineRefusal(_ session: Session) -> BridgeError { quotas.lineRefusal(session) }

    // MARK: From one daemon to the next

    /// The number of the last session that was opened: the next daemon goes on behind it.
    public var lastSession: UInt64 { rooms.sessions.lastNumber }

    /// All sessions, in their order.
    public var sessionNumbers: [UInt64] { rooms.sessions.list.keys }

    /// The sessions that can go on in another process, in their order.
    public var sessionsAtRest: [UInt64] { lifecycle.sessionsAtRest }

    /// The open session of this number.
    public func session(_ number: UInt64) -> Session? { rooms.sessions[number] }

    /// Whether a session can go on in another process: no call by it or to it is in flight, and it is not about to end.
    public func isAtRest(_ session: Session) -> Bool { lifecycle.isAtRest(session) }

    /// Whether the session works on others' calls, so that these end only if it is read on.
    public func isProviding(_ session: Session) -> Bool { lifecycle.isProviding(session) }

    /// What the next daemon has to know of a session that is at rest. Events that waited for its reader are moved to
    /// its output.
    public func record(of session: Session) -> SessionRecord { lifecycle.record(of: session) }

    /// Which of these sessions provide what.
    public func providers(among numbers: Set<UInt64>) -> [ProviderRecord] { lifecycle.providers(among: numbers) }

    /// Goes on with a session of the daemon before. Its number must not be in use. Plugins are notified that it opened;
    /// no one else is, for nothing has happened to it.
    ///
    /// - Parameter peer: As the kernel reports it.
    public func resume(
        _ record: SessionRecord, peer: PeerIdentity, transport: (any SessionTransport)?
    ) -> Session {
        lifecycle.resume(record, peer: peer, transport: transport)
    }

    /// Sessions up to this number have been: no new one bears it.
    public func continueSessions(after number: UInt64) { rooms.sessions.continue(after: number) }

    /// Enters what sessions of the daemon before provide. What cannot be entered, because the session is not here or
    /// the task belongs to a plugin now, is returned. Schemas are read when their tasks are first called.
    public func restore(_ providers: [ProviderRecord]) -> [ProviderRecord] { lifecycle.restore(providers) }

    /// Events that are kept for those who subscribe later, in the order in which they were published. Without those
    /// of plugins, which publish them again when they start.
    public var retainedEvents: [RetainedEvent] { events.retainedOfClients }

    /// Keeps what the daemon before kept. What is too much, or has a name that no client may publish, is left out.
    public func retain(_ kept: [RetainedEvent]) { events.retain(kept) }
}
