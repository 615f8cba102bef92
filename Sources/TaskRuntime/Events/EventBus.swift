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
    private let steps: StepScheduler
    /// The events that are sent over several turns.
    private let queue: FanOutQueue

    init(
        _ sessions: SessionStore, _ gate: PolicyGate, _ output: SessionOutput, _ delivery: EventDelivery,
        _ monitor: TrafficMonitor, _ steps: StepScheduler
    ) {
        self.sessions = sessions
        rights = gate.rights
        quotas = gate.quotas
        self.output = output
        self.delivery = delivery
        self.monitor = monitor
        self.steps = steps
        queue = FanOutQueue(gate.rights, delivery)
    }

    // MARK: Publishing

    /// Sends an event of the daemon to every session that subscribed to its name.
    ///
    /// - Parameter account: The account that the delivery is charged to if it takes several turns; `nil` to complete it
    ///   immediately.
    func publish(_ name: String, data: JSON, for account: UserAccount? = nil) {
        guard !subscriptions.isEmpty || monitor.isWatched else { return }
        begin(name, data.bytes, for: account)
    }

    /// Begins to send an event to every session that subscribed to its name.
    ///
    /// - Parameters:
    ///   - data: JSON.
    ///   - isRetained: Whether later subscribers get it as well.
    ///   - account: The account of the publisher; `nil` for the daemon.
    /// - Returns: The delivery, if it has many receivers, for ``send(_:until:)``; `nil` if it is complete.
    func beginPublishing(_ name: String, data: [UInt8], isRetained: Bool, of account: UserAccount?) -> FanOut? {
        // The receivers are known when all of them have the event.
        let show = monitor.isWatched ? { [monitor] in monitor.showEvent(name, data, to: $0) } : nil
        return queue.begin(
            EventLines(name, data, isRetained: isRetained), of: account,
            to: .subscriptions(subscriptions.lists(for: name)), whenSent: show)
    }

    private func begin(_ name: String, _ data: [UInt8], isRetained: Bool = false, for account: UserAccount?) {
        send(beginPublishing(name, data: data, isRetained: isRetained, of: account), for: account)
    }

    /// Returns whether an event of this publisher is on the way.
    func isSending(for account: UserAccount) -> Bool { queue.hasEvent(of: account) }

    /// Continues a delivery, and returns whether it is complete.
    func send(_ fanOut: FanOut, until budget: StepBudget) -> Bool { queue.send(fanOut, until: budget) }

    /// Continues a delivery, if there is one, in turns of an account; `nil` to complete it immediately.
    func send(_ fanOut: FanOut?, for account: UserAccount?) {
        guard let fanOut else { return }
        guard let account else { return _ = queue.send(fanOut, until: nil) }
        steps.begin(FanOutJob(queue, fanOut), for: account)
    }

    /// Sends a session all events that are on the way to it. Called before the session gets a message that follows
    /// them, and before it stops receiving.
    @inline(__always)
    func catchUp(_ session: Session) { queue.catchUp(session) }

    /// Completes all deliveries.
    func finish() { queue.finish() }

    /// Sends an event of a plugin: to every session that subscribed to its name, or to the named sessions only. Of
    /// these it is sent to those that subscribed, or directly to all of them.
    ///
    /// - Parameters:
    ///   - data: Checked JSON.
    ///   - numbers: The numbers of the sessions; `nil` for all subscribers.
    ///   - account: The account that the delivery is charged to if it takes several turns.
    /// - Returns: The reason why the event is not sent; `nil` if it is sent.
    @discardableResult
    func publish(
        _ name: String, data: UnsafeRawBufferPointer, to numbers: [UInt64]?, direct: Bool, isRetained: Bool = false,
        for account: UserAccount
    ) -> String? {
        if let fault = Self.fault(inName: name) { return fault }
        guard let numbers else {
            begin(name, Array(data), isRetained: isRetained, for: account)
            return nil
        }
        // Removes duplicates.
        let wanted = Set(numbers)
        var named = wanted.sorted().compactMap { sessions[$0] }
        // No rights are checked: the plugin that names the sessions decides that they may get the event.
        if !direct { named = subscriptions.those(of: named, listeningTo: name) }
        if monitor.isWatched { monitor.showEvent(name, Array(data), to: named) }
        let receivers = FanOut.Receivers.named(named, direct ? wanted : Set(named.lazy.map(\.number)))
        send(queue.begin(EventLines(name, Array(data)), of: account, to: receivers), for: account)
        return nil
    }

    /// Returns why an event's name is invalid; `nil` if it is valid.
    static func fault(inName name: String) -> String? {
        guard !PublicName.isAllowed(name) else { return nil }
        return "the name of an event is \(PublicName.rule); this one is \(JSON.string(String(name.prefix(64))).text)"
    }

    // MARK: Subscriptions

    /// Whether no session has a subscription.
    var isUnheard: Bool { subscriptions.isEmpty }

    /// Adds a pattern to a session. It takes effect with ``begin(of:)``.
    func enter(_ pattern: EventPattern, of session: Session) { subscriptions.enter(pattern, of: session) }

    /// Puts all patterns of a session into effect, for events that are published from now on.
    func begin(of session: Session) {
        queue.catchUp(session)
        subscriptions.begin(of: session)
    }

    /// Adds a pattern that takes effect immediately.
    func add(_ pattern: EventPattern, to session: Session) {
        queue.catchUp(session)
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
