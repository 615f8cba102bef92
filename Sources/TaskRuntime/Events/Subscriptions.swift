/// The subscriptions of all sessions. All changes are made here, so that tree, sessions and accounts stay consistent.
/// Loop thread only.
final class Subscriptions {
    private let tree = PatternTree<Subscription>()
    private var count = 0
    /// The mark of the last search. It marks the sessions that subscribed to an event.
    private var lastMark: UInt64 = 0

    /// Whether no session has a subscription.
    var isEmpty: Bool { count == 0 }

    /// Returns the subscriptions to an event, including those that have not taken effect, in lists that later changes
    /// do not affect.
    func lists(for event: String) -> [[PatternTree<Subscription>.Entry]] { tree.lists(matching: event) }

    /// The maximum number of sessions that are checked one by one. A session may have a few hundred patterns.
    private static let maximumAsked = 16

    /// Returns those of the given sessions that subscribed to an event, in their order.
    func those(of sessions: [Session], listeningTo event: String) -> [Session] {
        guard sessions.count > Self.maximumAsked else { return sessions.filter { $0.listens(to: event) } }
        lastMark += 1
        let mark = lastMark
        tree.forEach(matching: event) { if $0.hasBegun { $0.session.searchMark = mark } }
        return sessions.filter { $0.searchMark == mark }
    }

    /// Adds a pattern to a session, unless the session has it. The pattern takes effect with ``begin(of:)``.
    func enter(_ pattern: EventPattern, of session: Session) {
        guard session.subscriptions[pattern] == nil else { return }
        let subscription = Subscription(session, pattern, order: session.nextSubscription)
        session.nextSubscription += 1
        subscription.entry = tree.insert(subscription, pattern)
        session.subscriptions[pattern] = subscription
        session.account.subscriptions += 1
        count += 1
    }

    /// Puts all patterns of a session into effect.
    func begin(of session: Session) { session.begunSubscriptions = session.nextSubscription }

    /// Adds a pattern that takes effect immediately.
    func add(_ pattern: EventPattern, to session: Session) {
        enter(pattern, of: session)
        begin(of: session)
    }

    /// Removes a pattern from a session, if the session has it.
    func remove(_ pattern: EventPattern, from session: Session) {
        guard let subscription = session.subscriptions.removeValue(forKey: pattern) else { return }
        remove(subscription, of: session)
    }

    /// Removes all patterns of a session.
    func removeAll(of session: Session) {
        for subscription in session.subscriptions.values { remove(subscription, of: session) }
        session.subscriptions = [:]
    }

    private func remove(_ subscription: Subscription, of session: Session) {
        if let entry = subscription.entry { tree.remove(entry) }
        // Breaks the reference cycle between the subscription and its tree entry.
        subscription.entry = nil
        session.account.subscriptions -= 1
        count -= 1
    }
}
