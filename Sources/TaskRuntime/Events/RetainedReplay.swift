/// Retained events on their way to a session that has subscribed: those that its new patterns match and the ones before
/// do not, in the order in which they were published.
///
/// An event that is published or forgotten meanwhile is not sent from here: the session has been sent the newer one.
struct RetainedReplay {
    private let bus: EventBus
    private let listener: Session
    private let retained: [(order: UInt64, name: String)]
    /// What the session listens to, of which those from this index on are new.
    private let patterns: [EventPattern]
    private let oldCount: Int
    private let wanted = PatternTree<Void>()
    private let unwanted = PatternTree<Void>()
    private var enteredCount = 0
    private var lookedAtCount = 0
    private var found: [(order: UInt64, name: String)] = []
    /// Those that have not been sent, once all have been looked at.
    private var unsent: ArraySlice<(order: UInt64, name: String)>?

    /// - Parameter firstNew: the index of the first new subscription among those of the session.
    /// - Returns: nil where nothing is retained, or nothing is new.
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

    /// Goes on. True: all have been sent.
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
