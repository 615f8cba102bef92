import BridgeJSON
import BridgeMessage

/// Events: the subscriptions of sessions, the retained events for later subscribers, and the delivery of events. Loop
/// thread only.
final class EventBus {
    private let subscriptions = Subscriptions()
    private var retained = RetainedEvents()
    private let sessions: SessionStore
    let rights: Rights
    let quotas: Quotas
    let output: SessionOutput
    let delivery: EventDelivery
    private let monitor: TrafficMonitor
    /// The delivery that is not complete. Before anything else is sent, and before subscriptions take effect, it is
    /// completed: all sessions receive events in the order of their publication.
    private var unfinished: FanOut?

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
        _ = beginPublishing(name, data: data, isRetained: isRetained)
        finishPublishing()
    }

    /// Sends an event like ``publish(_:data:isRetained:)``. If it has many receivers, it is sent by
    /// ``send(_:until:)``.
    ///
    /// - Returns: The delivery; `nil` if it is complete.
    func beginPublishing(_ name: String, data: [UInt8], isRetained: Bool) -> FanOut? {
        finishPublishing()
        if monitor.isWatched {
            let receivers = subscriptions.sessions(for: name) { rights.mayGet(name, by: $0) }
            monitor.showEvent(name, data, to: receivers)
        }
        let fanOut = subscriptions.fanOut(EventLines(name, data, isRetained: isRetained))
        unfinished = fanOut
        if fanOut.isLong { return fanOut }
        finishPublishing()
        return nil
    }

    /// Continues a delivery, and returns whether it is complete.
    ///
    /// - Parameter budget: `nil` to complete it.
    func send(_ fanOut: FanOut, until budget: StepBudget?) -> Bool {
        var visited = 0
        while let subscription = fanOut.next() {
            if fanOut.visits(subscription), rights.mayGet(fanOut.event.name, by: subscription),
                subscription.session.takesEvents
            {
                delivery.send(fanOut.event, to: subscription.session)
            }
            visited += 1
            if visited & (Self.visitsPerLook - 1) == 0, budget?.isSpent == true { return false }
        }
        if unfinished === fanOut { unfinished = nil }
        return true
    }

    /// The number of subscriptions after which the clock is read; a power of two.
    private static let visitsPerLook = 8

    private func finishPublishing() {
        if let unfinished { _ = send(unfinished, until: nil) }
    }

    /// Sends an event to the named sessions only: to those of them that subscribed, or directly to all of them.
    ///
    /// - Parameters:
    ///   - data: Checked JSON.
    ///   - numbers: The numbers of the sessions; `nil` for all subscribers.
    /// - Returns: The reason why the event is not sent; `nil` if it is sent.
    @discardableResult
    func publish(
        _ name: String, data: UnsafeRawBufferPointer, to numbers: [UInt64]?, direct: Bool, isRetained: Bool = false
    ) -> String? {
        if let fault = Self.fault(inName: name) { return fault }
        guard let numbers else {
            publish(name, data: Array(data), isRetained: isRetained)
            return nil
        }
        // Removes duplicates.
        let named = Set(numbers).sorted().compactMap { sessions[$0] }
        // No rights are checked: the plugin that names the sessions decides that they may get the event.
        finishPublishing()
        deliver(name, Array(data), to: direct ? named : subscriptions.those(of: named, listeningTo: name))
        return nil
    }

    /// Returns why an event's name is invalid; `nil` if it is valid.
    static func fault(inName name: String) -> String? {
        guard !PublicName.isAllowed(name) else { return nil }
        return "the name of an event is \(PublicName.rule); this one is \(JSON.string(String(name.prefix(64))).text)"
    }

    private func deliver(_ name: String, _ data: [UInt8], to receivers: [Session]) {
        if monitor.isWatched { monitor.showEvent(name, data, to: receivers) }
        let event = EventLines(name, data)
        for session in receivers where session.takesEvents { delivery.send(event, to: session) }
    }

    // MARK: Subscriptions

    /// Whether no session has a subscription.
    var isUnheard: Bool { subscriptions.isEmpty }

    /// Adds a pattern to a session. It takes effect with ``begin(of:)``.
    func enter(_ pattern: EventPattern, of session: Session) { subscriptions.enter(pattern, of: session) }

    /// Puts all patterns of a session into effect.
    func begin(of session: Session) {
        finishPublishing()
        subscriptions.begin(of: session)
    }

    /// Adds a pattern that takes effect immediately.
    func add(_ pattern: EventPattern, to session: Session) {
        finishPublishing()
        subscriptions.add(pattern, to: session)
    }

    /// Removes a pattern from a session.
    func remove(_ pattern: EventPattern, from session: Session) { subscriptions.remove(pattern, from: session) }

    /// Removes all subscriptions of an ending session, and its watch of the traffic.
    func endListening(_ session: Session) {
        subscriptions.removeAll(of: session)
        if monitor.isWatched { monitor.unwatch(session) }
    }

    // MARK: Retained events

    /// Returns the retained event with this name; `nil` if there is none.
    func retainedEvent(_ name: String) -> RetainedEvents.Entry? { retained.event(name) }

    /// Returns the delivery of the retained events that match new subscriptions of a session; `nil` if there is nothing
    /// to deliver.
    ///
    /// - Parameter firstNew: The index of the first new subscription among those of the session.
    func replay(to listener: Session, firstNew: Int) -> RetainedReplay? {
        RetainedReplay(retained, of: self, to: listener, firstNew: firstNew)
    }

    /// The retained events for later subscribers, in the order of their publication. Excludes those of plugins, which
    /// publish them again when they start.
    var retainedOfClients: [RetainedEvent] { retained.ofClients }

    /// Retains the events that the previous daemon retained. Omits those beyond the limits, and those with a name that
    /// no client may publish.
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

    /// Retains an event for later subscribers.
    ///
    /// - Parameter session: The session that published it; `nil` if no session did.
    /// - Throws: `quota.exceeded`; the previous event of this name remains in this case.
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

    /// Retains an event of a plugin for later subscribers.
    ///
    /// - Throws: `quota.exceeded`; the previous event of this name remains in this case.
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

    /// Removes the retained event with this name.
    func forget(_ name: String) { retained.forget(name) }

    /// Removes the retained events of a plugin.
    func forget(ofPlugin plugin: String) { retained.forget(ofPlugin: plugin) }
}
