import BridgeJSON

/// One event pattern of one session.
final class Subscription {
    /// Not retained: a session's subscriptions are removed before the session is released.
    unowned(unsafe) let session: Session
    let pattern: EventPattern
    /// The subscription's position in the order in which the session subscribed.
    let order: Int
    var entry: PatternTree<Subscription>.Entry?
    /// Whether the session receives events for this subscription.
    var hasBegun: Bool { order < session.begunSubscriptions }
    /// Whether all events of the subscription have the name that is its pattern.
    let hasOneName: Bool
    /// The cached decision whether the session may receive the event of this one name, and the revision of the
    /// session's rights for which it is valid.
    @exclusivity(unchecked) var right: (isAllowed: Bool, revision: UInt64)?

    init(_ session: Session, _ pattern: EventPattern, order: Int) {
        self.session = session
        self.pattern = pattern
        self.order = order
        hasOneName = !pattern.isPrefix
    }
}

extension Session {
    /// The patterns that the session is subscribed to, in the order in which it subscribed.
    var patterns: [EventPattern] {
        subscriptions.values.filter(\.hasBegun).sorted { $0.order < $1.order }.map(\.pattern)
    }

    /// Whether events are sent to the session.
    var takesEvents: Bool { phase == .open || phase == .inputEnded }

    /// Whether the session is subscribed to an event.
    func listens(to event: String) -> Bool {
        subscriptions.values.contains { $0.hasBegun && $0.pattern.matches(event) }
    }

    /// Returns the result of bridge.subscribe and bridge.unsubscribe: the patterns that a session is subscribed to.
    static func subscriptionList(_ patterns: [EventPattern]) -> [UInt8] {
        let events: JSON = ["events": .array(patterns.map { .string($0.text) })]
        return events.bytes
    }
}
