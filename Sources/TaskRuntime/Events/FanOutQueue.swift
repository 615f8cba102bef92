/// The events that are sent over several turns, because they have many receivers.
///
/// Each session gets events in the order of their publication, and before any callback that follows them: before a
/// session gets something else, it gets the events that are on the way to it. Loop thread only.
final class FanOutQueue {
    /// The maximum number of events on the way, and of the bytes of their data. Beyond it, the oldest one is sent to
    /// all its receivers immediately.
    private static let maximumCount = 64
    private static let maximumBytes = 4 << 20
    /// The number of receivers after which the clock is read; a power of two.
    private static let receiversPerLook = 8

    private let rights: Rights
    private let delivery: EventDelivery
    /// The events on the way, the oldest first.
    private var queue: [FanOut] = []
    private var bytes = 0
    /// The mark of the last event.
    private var lastMark: UInt64 = 0

    init(_ rights: Rights, _ delivery: EventDelivery) {
        self.rights = rights
        self.delivery = delivery
    }

    /// Whether no event is on the way.
    @exclusivity(unchecked) private(set) var isEmpty = true

    /// Returns whether an event of this publisher is on the way.
    func hasEvent(of account: UserAccount) -> Bool { queue.contains { $0.account === account } }

    /// Creates the delivery of an event. If it is long, it is added to the queue, and the caller continues it with
    /// ``send(_:until:)``.
    ///
    /// - Parameter whenSent: Called with the sessions that got the event, once all have it.
    /// - Returns: The delivery; `nil` if it is complete.
    func begin(
        _ event: EventLines, of account: UserAccount?, to receivers: FanOut.Receivers,
        whenSent: (([Session]) -> Void)? = nil
    ) -> FanOut? {
        lastMark += 1
        let fanOut = FanOut(event, of: account, mark: lastMark, to: receivers, whenSent: whenSent)
        guard fanOut.isLong else {
            _ = send(fanOut, until: nil)
            return nil
        }
        queue.append(fanOut)
        isEmpty = false
        bytes += event.text.count
        while queue.count > Self.maximumCount || bytes > Self.maximumBytes && queue.count > 1 {
            _ = send(queue[0], until: nil)
        }
        return fanOut
    }

    /// Continues a delivery, and returns whether it is complete.
    ///
    /// - Parameter budget: `nil` to complete it.
    func send(_ fanOut: FanOut, until budget: StepBudget?) -> Bool {
        var count = 0
        while true {
            switch fanOut.next() {
            case .receiver(let session, let subscription): send(fanOut, to: session, by: subscription)
            case .skipped: break
            case .end:
                remove(fanOut)
                fanOut.end()
                return true
            }
            count += 1
            if count & (Self.receiversPerLook - 1) == 0, budget?.isSpent == true { return false }
        }
    }

    private func send(_ fanOut: FanOut, to session: Session, by subscription: Subscription?) {
        guard session.eventMark < fanOut.mark else { return }
        catchUp(session, before: fanOut.mark)
        session.eventMark = fanOut.mark
        guard session.takesEvents, subscription.map({ rights.mayGet(fanOut.event.name, by: $0) }) ?? true else {
            return
        }
        fanOut.note(session)
        delivery.send(fanOut.event, to: session)
    }

    private func remove(_ fanOut: FanOut) {
        guard let index = queue.firstIndex(where: { $0 === fanOut }) else { return }
        queue.remove(at: index)
        isEmpty = queue.isEmpty
        bytes -= fanOut.event.text.count
    }

    /// Sends a session all events that are on the way to it.
    @inline(__always)
    func catchUp(_ session: Session) {
        if !isEmpty { catchUp(session, before: lastMark &+ 1) }
    }

    /// Sends a session the events with smaller marks that are on the way to it.
    private func catchUp(_ session: Session, before mark: UInt64) {
        guard !isEmpty, session.eventMark &+ 1 < mark else { return }
        for fanOut in queue where session.eventMark < fanOut.mark && fanOut.mark < mark {
            guard session.takesEvents, fanOut.isFor(session, rights) else { continue }
            fanOut.note(session)
            delivery.send(fanOut.event, to: session)
        }
        session.eventMark = mark &- 1
    }

    /// Sends all events on the way to all their receivers.
    func finish() {
        while let fanOut = queue.first { _ = send(fanOut, until: nil) }
    }
}
