import BridgeJSON

/// One pattern of one session.
final class Subscription {
    /// Not retained: a session leaves before it is forgotten.
    unowned(unsafe) let session: Session
    let pattern: EventPattern
    /// Its position in the order in which the session subscribed.
    let order: Int
    var entry: PatternTree<Subscription>.Entry?
    /// Whether the session gets events for it.
    var hasBegun: Bool { order < session.begunSubscriptions }

    init(_ session: Session, _ pattern: EventPattern, order: Int) {
        self.session = session
        self.pattern = pattern
        self.order = order
    }
}

extension Session {
    /// What it listens to, in the order in which it subscribed.
    var patterns: [EventPattern] {
        subscriptions.values.filter(\.hasBegun).sorted { $0.order < $1.order }.map(\.pattern)
    }

    /// Whether it subscribed to an event.
    func listens(to event: String) -> Bool {
        subscriptions.values.contains { $0.hasBegun && $0.pattern.matches(event) }
    }

    /// What a session listens to, as bridge.subscribe and bridge.unsubscribe answer it.
    static func subscriptionList(_ patterns: [EventPattern]) -> [UInt8] {
        let events: JSON = ["events": .array(patterns.map { .string($0.text) })]
        return events.bytes
    }
}
