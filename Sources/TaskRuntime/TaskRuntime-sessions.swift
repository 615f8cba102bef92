public import BridgeJSON
public import BridgeMessage

// The interface of the runtime for the server and for the handover to the next daemon.
extension TaskRuntime {
    /// Opens a session for a client that has connected.
    public func open(_ peer: PeerIdentity, transport: (any SessionTransport)?) -> Session {
        lifecycle.open(peer, transport: transport)
    }

    /// Returns why a client must not connect; `nil` if it may.
    public func refusal(ofConnectionBy peer: PeerIdentity) -> BridgeError? { quotas.refusal(ofConnectionBy: peer) }

    /// Returns the error for a connection that exceeds the server's maximum for all users. It is counted, and reported
    /// in the log.
    public func refusal(ofConnectionBeyond maximum: Int) -> BridgeError {
        quotas.refusal(ofConnectionBeyond: maximum)
    }

    /// Ends the input of a session; the client may still read. It still gets its pending answers; the tasks that it
    /// provides are removed.
    public func endInput(of session: Session) { lifecycle.endInput(of: session) }

    /// Ends the session of a client that has disconnected, or that is treated as such. Its calls are cancelled without
    /// callbacks.
    public func hangUp(_ session: Session) { lifecycle.hangUp(session) }

    /// Ends a closing session whose connection has been closed.
    public func didClose(_ session: Session) { lifecycle.hangUp(session) }

    /// Closes a session that cannot be handed over or resumed, after a message that states the reason.
    public func end(_ session: Session, because reason: String) { lifecycle.end(session, because: reason) }

    // MARK: Messages

    /// Receives one decoded item of a session's input. The memory that it borrows must be valid until this returns.
    public func receive(_ item: DecodedItem, from session: Session) { router.receive(item, from: session) }

    /// Begins a batch if it is a JSON-RPC batch, whose items are answered by one array.
    ///
    /// - Parameter isRPC: Whether its first item is JSON-RPC; `nil` if that item is not a message.
    /// - Returns: `nil` if it is not a JSON-RPC batch. A batch whose first item is no message is a JSON-RPC batch if
    ///   JSON-RPC is the session's dialect, or if the session has named and used none.
    public func openBatch(isRPC: Bool?, of session: Session) -> RPCBatch? {
        components.output.openBatch(isRPC: isRPC, of: session)
    }

    /// Suspends a batch whose next items arrive later.
    public func suspendBatch(of session: Session) { components.output.suspendBatch(of: session) }

    /// Resumes a suspended batch, before its next items.
    public func resume(_ batch: RPCBatch, of session: Session) { components.output.resume(batch, of: session) }

    /// Closes a batch whose items have all been received.
    public func close(_ batch: RPCBatch, of session: Session) { components.output.close(batch, of: session) }

    // MARK: Output

    /// Sends an event to every session that subscribed to its name.
    public func publish(_ name: String, data: JSON) { events.publish(name, data: data) }

    /// Sends all events to all their receivers, including those that would take several turns.
    public func finishEvents() { events.finish() }

    /// Sends the output that waited for the client to read, as far as there is room. The server calls this when the
    /// session's output has shrunk.
    public func refill(_ session: Session) {
        guard session.output.count < Session.slowReaderBytes else { return }
        if !session.heldProgress.isEmpty { calls.writeHeldProgress(to: session) }
        if session.streamHolder != nil { streams.refill(session) }
        if !session.events.isEmpty { components.delivery.refill(session) }
    }

    /// Counts the bytes that are held for a session again. The server calls this if output was not written completely,
    /// and if a line takes long to arrive.
    public func countQueued(_ session: Session) { quotas.countQueued(session) }

    /// Returns whether the bytes held for the session's user, or for all users, reach the quota.
    public func isOverQuota(_ session: Session) -> Bool { quotas.isOverQuota(session) }

    /// Returns the error for a line that was discarded because there is no room to wait for its end.
    public func lineRefusal(_ session: Session) -> BridgeError { quotas.lineRefusal(session) }

    // MARK: Handover to the next daemon

    /// The number of the last session that was opened. The next daemon continues after it.
    public var lastSession: UInt64 { components.sessions.lastNumber }

    /// The numbers of all sessions, in ascending order.
    public var sessionNumbers: [UInt64] { components.sessions.list.keys }

    /// The numbers of the sessions that can continue in another process, in ascending order.
    public var sessionsAtRest: [UInt64] { lifecycle.sessionsAtRest }

    /// Returns the open session with this number; `nil` if there is none.
    public func session(_ number: UInt64) -> Session? { components.sessions[number] }

    /// Returns whether a session can continue in another process: no call by it or to it is in flight, and it is not
    /// about to end.
    public func isAtRest(_ session: Session) -> Bool { lifecycle.isAtRest(session) }

    /// Returns whether the session works on calls of other sessions. These calls end only if the daemon continues to
    /// read from it.
    public func isProviding(_ session: Session) -> Bool { lifecycle.isProviding(session) }

    /// Returns the state of a session at rest for the next daemon. Events that waited for its reader are moved to its
    /// output.
    public func record(of session: Session) -> SessionRecord { lifecycle.record(of: session) }

    /// Returns the tasks that these sessions provide.
    public func providers(among numbers: Set<UInt64>) -> [ProviderRecord] { lifecycle.providers(among: numbers) }

    /// Resumes a session of the previous daemon. Its number must not be in use. Only plugins are notified that it
    /// opened, because nothing has changed for clients.
    ///
    /// - Parameter peer: As the kernel reports it.
    public func resume(
        _ record: SessionRecord, peer: PeerIdentity, transport: (any SessionTransport)?
    ) -> Session {
        lifecycle.resume(record, peer: peer, transport: transport)
    }

    /// Makes the numbers of new sessions begin after this one. The previous daemon used the numbers up to it.
    public func continueSessions(after number: UInt64) { components.sessions.continue(after: number) }

    /// Registers the tasks that sessions of the previous daemon provide. Returns those that cannot be registered
    /// because the session is not here or the task now belongs to a plugin. Schemas are read when their tasks are first
    /// called.
    public func restore(_ providers: [ProviderRecord]) -> [ProviderRecord] { lifecycle.restore(providers) }

    /// The retained events for later subscribers, in the order of their publication. Excludes those of plugins, which
    /// publish them again when they start.
    public var retainedEvents: [RetainedEvent] { events.retainedOfClients }

    /// Retains the events that the previous daemon retained. Omits those beyond the limits, and those with a name that
    /// no client may publish.
    public func retain(_ kept: [RetainedEvent]) { events.retain(kept) }
}
