/// The delivery of retained events to a session that has subscribed. It sends the events that match new patterns and no
/// old one, in the order of their publication.
///
/// An event that is replaced or removed meanwhile is not sent: the session has already got the newer event.
struct RetainedReplay {
    private let bus: EventBus
    private let listener: Session
    private let retained: [(order: UInt64, name: String)]
    /// The patterns of the session: first the old ones, then the new ones.
    private let patterns: [EventPattern]
    private let oldCount: Int
    private let wanted = PatternTree<Void>()
    private let unwanted = PatternTree<Void>()
    private var enteredCount = 0
    private var lookedAtCount = 0
    private var found: [(order: UInt64, name: String)] = []
    /// The events that have not been sent; `nil` until all have been matched.
    private var unsent: ArraySlice<(order: UInt64, name: String)>?

    /// - Parameter firstNew: The index of the first new subscription among those of the session.
    /// - Returns: `nil` if no event is retained or no subscription is new.
    init?(_ events: RetainedEvents, of bus: EventBus, to listener: Session, firstNew: Int) {
        guard !events.isEmpty, listener.nextSubscription > firstNew else { return nil }
        self.bus = bus
        self.listener = listener
        retained = events.names
        let subscriptions = listener.subscriptions.values
        let old = subscriptions.filter { $0.order < firstNew }.map(\.pattern)
        oldCount = old.count
        patterns = old + subscriptions.filter { $0.order >= firstNew }.map(\.pattern)
    }

    /// Continues, and returns true once all have been sent.
    mutating func step(until budget: StepBudget) -> Bool {
        while enteredCount < patterns.count {
            _ = (enteredCount < oldCount ? unwanted : wanted).insert((), patterns[enteredCount])
            enteredCount += 1
            if budget.isSpent { return false }
        }
        while lookedAtCount < retained.count {
            let event = retained[lookedAtCount]
            if wanted.matches(event.name), !unwanted.matches(event.name) { found.append(event) }
            lookedAtCount += 1
            if budget.isSpent { return false }
        }
        if unsent == nil { unsent = found.sorted { $0.order < $1.order }[...] }
        while let event = unsent?.popFirst() {
            if let kept = bus.retainedEvent(event.name), kept.order == event.order {
                send(kept)
            }
            if budget.isSpent { return unsent?.isEmpty ?? true }
        }
        return true
    }

    private func send(_ kept: RetainedEvents.Entry) {
        guard bus.rights.mayGet(kept.name, listener) else { return }
        bus.delivery.send(kept.event.line(in: listener.eventDialect), to: listener)
    }
}
