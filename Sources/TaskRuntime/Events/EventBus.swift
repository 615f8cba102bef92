import BridgeJSON
import BridgeMessage

/// Events: who listens to what, what is kept for those who subscribe later, and to whom an event goes. Loop thread
/// only.
final class EventBus {
    private let subscriptions = Subscriptions()
    private var retained = RetainedEvents()
    private let sessions: SessionStore
    let rights: Rights
    let quotas: Quotas
    let output: SessionOutput
    let delivery: EventDelivery
    private let monitor: TrafficMonitor

    init(
        _ sessions: SessionStore, _ gate: PolicyGate, _ output: SessionOutput, _ delivery: EventDelivery,
        _ monitor: TrafficMonitor
    ) {
        self.sessions = sessions
        rights = gate.rights
        quotas = gate.quotas
        self.output = output
        self.delivery = delivery
        self.monitor = monitor
    }

    // MARK: Publishing

    /// Sends an event to every session that subscribed to its name.
    func publish(_ name: String, data: JSON) {
        guard !subscriptions.isEmpty || monitor.isWatched else { return }
        publish(name, data: data.bytes)
    }

    /// Sends an event, whose data are JSON, to every session that subscribed to its name.
    ///
    /// - Parameter isRetained: Whether later subscribers get it as well.
    func publish(_ name: String, data: [UInt8], isRetained: Bool = false) {
        let receivers = subscriptions.sessions(for: name).filter { rights.mayGet(name, $0) }
        deliver(name, data, isRetained: isRetained, to: receivers)
    }

    /// Sends an event to some sessions only: to those of them that subscribed, or directly to all of them.
    ///
    /// - Parameter data: JSON, checked.
    /// - Returns: Why the event is not sent; nil: it is.
    @discardableResult
    func publish(
        _ name: String, data: UnsafeRawBufferPointer, to numbers: [UInt64]?, direct: Bool, isRetained: Bool = false
    ) -> String? {
        if let fault = Self.fault(inName: name) { return fault }
        guard let numbers else {
            publish(name, data: Array(data), isRetained: isRetained)
            return nil
        }
        // Each once, however often it was named.
        let named = Set(numbers).sorted().compactMap { sessions[$0] }
        // Whom a plugin names may get what it sends: that is the plugin's to know.
        deliver(name, Array(data), to: direct ? named : subscriptions.those(of: named, listeningTo: name))
        return nil
    }

    /// What is wrong with an event's name; nil: nothing.
    static func fault(inName name: String) -> String? {
        guard !PublicName.isAllowed(name) else { return nil }
        return "the name of an event is \(PublicName.rule); this one is \(JSON.string(String(name.prefix(64))).text)"
    }

    private func deliver(_ name: String, _ data: [UInt8], isRetained: Bool = false, to receivers: [Session]) {
        if monitor.isWatched { monitor.showEvent(name, data, to: receivers) }
        let event = EventLines(name, data, isRetained: isRetained)
        for session in receivers where session.phase == .open || session.phase == .inputEnded {
            delivery.send(event, to: session)
        }
    }

    // MARK: Listening

    /// Whether no session listens to anything.
    var isUnheard: Bool { subscriptions.isEmpty }

    /// Adds a pattern to those of a session, which holds from ``begin(of:)`` on.
    func enter(_ pattern: EventPattern, of session: Session) { subscriptions.enter(pattern, of: session) }

    /// All patterns of a session hold from now on.
    func begin(of session: Session) { subscriptions.begin(of: session) }

    /// Adds a pattern that takes effect immediately.
    func add(_ pattern: EventPattern, to session: Session) { subscriptions.add(pattern, to: session) }

    /// Removes a pattern from those of a session.
    func remove(_ pattern: EventPattern, from session: Session) { subscriptions.remove(pattern, from: session) }

    /// The session ends: it listens to nothing, and watches nothing.
    func endListening(_ session: Session) {
        subscriptions.removeAll(of: session)
        if monitor.isWatched { monitor.unwatch(session) }
    }

    // MARK: What is retained

    /// The retained event of this name.
    func retainedEvent(_ name: String) -> RetainedEvents.Entry? { retained.event(name) }

    /// Retained events that new subscriptions of a session match; nil: there are none.
    ///
    /// - Parameter firstNew: The index of the first new subscription among those of the session.
    func replay(to listener: Session, firstNew: Int) -> RetainedReplay? {
        RetainedReplay(retained, of: self, to: listener, firstNew: firstNew)
    }

    /// Events that are kept for those who subscribe later, in the order in which they were published. Without those
    /// of plugins, which publish them again when they start.
    var retainedOfClients: [RetainedEvent] { retained.ofClients }

    /// Keeps what the daemon before kept. What is too much, or has a name that no client may publish, is left out.
    func retain(_ events: [RetainedEvent]) {
        for event in events where PublicName.isAllowed(event.event) {
            let origin = event.origin ?? Session.localOrigin
            let entry = RetainedEvents.Entry(
                name: event.event, data: event.data.bytes, uid: event.uid, origin: origin,
                isTrusted: event.uid.map { rights.policy.trusts(PolicySubject(uid: $0, origin: origin)) } ?? false)
            let size = retained.size(with: entry).all
            guard size.events <= RetainedEvents.maximum.events, size.bytes <= RetainedEvents.maximum.bytes else {
                continue
            }
            retained.keep(entry)
        }
    }

    /// Keeps an event for those who subscribe later.
    ///
    /// - Parameter session: Which published it; nil: none.
    /// - Throws: `quota.exceeded`; the one before of its name is kept then.
    func retain(_ name: String, _ data: [UInt8], of session: Session?) throws(BridgeError) {
        let entry = RetainedEvents.Entry(
            name: name, data: data, uid: session?.peer.uid, origin: session?.origin ?? Session.localOrigin,
            isTrusted: session?.isTrusted ?? false)
        let sizes = retained.size(with: entry)
        if let session, !session.isTrusted {
            try checkRetained(sizes.ofUser, RetainedEvents.maximumOfUser, of: session.account.label)
        }
        try checkRetained(sizes.all, RetainedEvents.maximum, of: "all users")
        retained.keep(entry)
    }

    /// Keeps an event of a plugin's for those who subscribe later.
    ///
    /// - Throws: `quota.exceeded`; the one before of its name is kept then.
    func retain(_ name: String, _ data: [UInt8], ofPlugin plugin: String) throws(BridgeError) {
        let entry = RetainedEvents.Entry(name: name, data: data, plugin: plugin)
        let sizes = retained.size(with: entry)
        try checkRetained(sizes.ofUser, RetainedEvents.maximumOfUser, of: "the plugin \(plugin)")
        try checkRetained(sizes.all, RetainedEvents.maximum, of: "all users")
        retained.keep(entry)
    }

    private func checkRetained(
        _ size: RetainedEvents.Size, _ maximum: RetainedEvents.Size, of whom: String
    ) throws(BridgeError) {
        try quotas.check(.retainedEvents, size.events, maximum.events, of: whom, "retained events")
        try quotas.check(.retainedBytes, size.bytes, maximum.bytes, of: whom, "bytes of retained events")
    }

    /// Keeps the event of this name no longer.
    func forget(_ name: String) { retained.forget(name) }

    /// Keeps the events of a plugin no longer.
    func forget(ofPlugin plugin: String) { retained.forget(ofPlugin: plugin) }
}
