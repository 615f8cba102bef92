/// The delivery of an event to its receivers, one after the other. Loop thread only.
final class FanOut {
    /// The number of receivers up to which an event is sent in one turn.
    static let immediateReceivers = 64

    /// The receivers of an event.
    enum Receivers {
        /// The subscriptions that matched when the event was published. Some may have been removed since.
        case subscriptions([[PatternTree<Subscription>.Entry]])
        /// The sessions that the publisher named, and their numbers.
        case named([Session], Set<UInt64>)
    }

    /// A step of the delivery.
    enum Step {
        /// The event is for this session, by this subscription; `nil` for a named session.
        case receiver(Session, Subscription?)
        /// A subscription that was removed, or has not taken effect.
        case skipped
        case end
    }

    let event: EventLines
    /// The account of the publisher; `nil` for the daemon.
    let account: UserAccount?
    /// Grows with each event.
    let mark: UInt64
    private let receivers: Receivers
    /// Called with the sessions that got the event, once all have it.
    private let whenSent: (([Session]) -> Void)?
    /// These sessions, if there is such a closure.
    private var sent: [Session] = []
    private var list = 0
    private var position = 0

    init(
        _ event: EventLines, of account: UserAccount?, mark: UInt64, to receivers: Receivers,
        whenSent: (([Session]) -> Void)?
    ) {
        self.event = event
        self.account = account
        self.mark = mark
        self.receivers = receivers
        self.whenSent = whenSent
    }

    /// Notes that a session got the event.
    func note(_ session: Session) {
        if whenSent != nil { sent.append(session) }
    }

    /// Notes that all receivers have the event.
    func end() {
        whenSent?(sent)
        sent = []
    }

    /// Whether the event has so many receivers that it is sent over several turns.
    var isLong: Bool {
        switch receivers {
        case .subscriptions(let lists): lists.reduce(0) { $0 + $1.count } > Self.immediateReceivers
        case .named(let sessions, _): sessions.count > Self.immediateReceivers
        }
    }

    /// Returns the next receiver.
    func next() -> Step {
        switch receivers {
        case .subscriptions(let lists):
            while list < lists.count, position == lists[list].count { (list, position) = (list + 1, 0) }
            guard list < lists.count else { return .end }
            let subscription = lists[list][position].element
            position += 1
            // Without an entry it was removed, and its session may have been released.
            guard subscription.entry != nil, subscription.hasBegun else { return .skipped }
            return .receiver(subscription.session, subscription)
        case .named(let sessions, _):
            guard position < sessions.count else { return .end }
            position += 1
            return .receiver(sessions[position - 1], nil)
        }
    }

    /// Returns whether the event is for a session.
    func isFor(_ session: Session, _ rights: Rights) -> Bool {
        switch receivers {
        case .subscriptions: session.listens(to: event.name) && rights.mayGet(event.name, session)
        case .named(_, let numbers): numbers.contains(session.number)
        }
    }
}
