/// The delivery of an event to the sessions that subscribed to its name, one subscription after the other. Loop thread
/// only.
final class FanOut {
    /// The number of subscriptions up to which an event is sent in one turn.
    static let immediateSubscriptions = 64

    let event: EventLines
    /// The mark of the sessions that have been visited: a session with several matching patterns gets the event once.
    private let mark: UInt64
    /// The subscriptions that matched when the event was published. The last list is the next one.
    private var lists: [[PatternTree<Subscription>.Entry]]
    private var position = 0

    init(_ event: EventLines, mark: UInt64, _ lists: [[PatternTree<Subscription>.Entry]]) {
        self.event = event
        self.mark = mark
        self.lists = lists.reversed()
    }

    /// Whether the event is for so many subscriptions that it is sent over several turns.
    var isLong: Bool { lists.reduce(0) { $0 + $1.count } > Self.immediateSubscriptions }

    /// Returns the next subscription; `nil` at the end.
    func next() -> Subscription? {
        while let list = lists.last {
            if position < list.count {
                position += 1
                return list[position - 1].element
            }
            lists.removeLast()
            position = 0
        }
        return nil
    }

    /// Returns whether the event is for the session of a subscription: the subscription was not removed meanwhile, has
    /// taken effect, and the session was not visited before.
    func visits(_ subscription: Subscription) -> Bool {
        // Without an entry it was removed, and its session may have been released.
        guard subscription.entry != nil, subscription.hasBegun, subscription.session.eventMark != mark else {
            return false
        }
        subscription.session.eventMark = mark
        return true
    }
}
