/// Who listens to which events. Every change passes through here, so that tree, sessions and accounts agree. Loop
/// thread only.
final class Subscriptions {
    private let tree = PatternTree<Subscription>()
    private var count = 0
    /// Grows with each event: a session that several patterns of its own lead to is found once.
    private var lastMark: UInt64 = 0

    /// Whether no session listens to anything.
    var isEmpty: Bool { count == 0 }

    /// The sessions that subscribed to an event, each once.
    func sessions(for event: String) -> [Session] {
        lastMark += 1
        var found: [Session] = []
        tree.forEach(matching: event) { subscription in
            guard subscription.session.eventMark != lastMark, subscription.hasBegun else { return }
            subscription.session.eventMark = lastMark
            found.append(subscription.session)
        }
        return found
    }

    /// Up to so many sessions are asked one by one, each of which has a few hundred patterns.
    private static let maximumAsked = 16

    /// Those of some sessions that subscribed to an event, in their order.
    func those(of sessions: [Session], listeningTo event: String) -> [Session] {
        guard sessions.count > Self.maximumAsked else { return sessions.filter { $0.listens(to: event) } }
        // Marks them all.
        _ = self.sessions(for: event)
        return sessions.filter { $0.eventMark == lastMark }
    }

    /// Adds a pattern to those of a session; nothing happens where it has the pattern. No event is found for it before
    /// ``begin(of:)``.
    func enter(_ pattern: EventPattern, of session: Session) {
        guard session.subscriptions[pattern] == nil else { return }
        let subscription = Subscription(session, pattern, order: session.nextSubscription)
        session.nextSubscription += 1
        subscription.entry = tree.insert(subscription, pattern)
        session.subscriptions[pattern] = subscription
        session.account.subscriptions += 1
        count += 1
    }

    /// All patterns of a session hold from now on.
    func begin(of session: Session) { session.begunSubscriptions = session.nextSubscription }

    /// Adds a pattern that takes effect immediately.
    func add(_ pattern: EventPattern, to session: Session) {
        enter(pattern, of: session)
        begin(of: session)
    }

    /// Removes a pattern from those of a session; nothing happens where it has not got it.
    func remove(_ pattern: EventPattern, from session: Session) {
        guard let subscription = session.subscriptions.removeValue(forKey: pattern) else { return }
        remove(subscription, of: session)
    }

    /// The session no longer listens to anything.
    func removeAll(of session: Session) {
        for subscription in session.subscriptions.values { remove(subscription, of: session) }
        session.subscriptions = [:]
    }

    private func remove(_ subscription: Subscription, of session: Session) {
        if let entry = subscription.entry { tree.remove(entry) }
        // It holds the subscription, which would otherwise hold itself by way of it.
        subscription.entry = nil
        session.account.subscriptions -= 1
        count -= 1
    }
}
