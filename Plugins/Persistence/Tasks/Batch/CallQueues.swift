import TaskKit

/// What the queues need to know of a call.
protocol QueuedCall {
    /// Whose order of calls it belongs to.
    var session: SessionID { get }
    var lane: StoreLane { get }
    /// The length of its options.
    var sizeBytes: Int { get }
}

extension StoreCall: QueuedCall {}

/// Which calls wait for which lane, and which of them must wait for others of their session first.
///
/// The law of order: a session's calls take effect in the order in which they came, so that its reads see exactly its
/// own earlier writes. All calls of a session that are under way are on one lane, which keeps their order; a call for
/// another lane is held, with everything of its session behind it, until they are finished. Calls of different
/// sessions never wait for each other here.
///
/// Pure: no I/O, no clock, no threads.
struct CallQueues<Call: QueuedCall> {
    private struct Session {
        /// Where its calls are that are under way: in a lane's queue, or being carried out.
        var lane: StoreLane
        var underWay = 0
        /// Those behind them, the first of which is for another lane.
        var held = WaitingLine<Call>()
        /// The options of all of them.
        var sizeBytes = 0
    }

    private struct Queue {
        var calls: [Call] = []
        /// Somebody is on the way to take the calls, or at work on those taken before.
        var isAwake = false
    }

    private var sessions: [SessionID: Session] = [:]
    private var queues = StoreLane.allCases.map { _ in Queue() }
    /// How many calls there are that are not finished.
    private(set) var count = 0

    enum Admission {
        /// Its lane must be woken.
        case first
        case queued
        case refused
    }

    /// Takes a call in.
    mutating func admit(_ call: Call) -> Admission {
        let waitingBytes = call.sizeBytes > 0 ? sessions[call.session]?.sizeBytes ?? 0 : 0
        guard waitingBytes + call.sizeBytes <= Limits.waitingBytesPerSession else { return .refused }
        count += 1
        guard start(call, in: &sessions[call.session, default: Session(lane: call.lane)]) else { return .queued }
        return enqueue(call) ? .first : .queued
    }

    /// - Returns: Whether the call may go to its lane; else it is held.
    private func start(_ call: Call, in session: inout Session) -> Bool {
        session.sizeBytes += call.sizeBytes
        guard session.held.isEmpty, session.underWay == 0 || session.lane == call.lane else {
            session.held.append(call)
            return false
        }
        session.lane = call.lane
        session.underWay += 1
        return true
    }

    /// - Returns: Whether the lane must be woken.
    private mutating func enqueue(_ call: Call) -> Bool {
        queues[call.lane.rawValue].calls.append(call)
        defer { queues[call.lane.rawValue].isAwake = true }
        return !queues[call.lane.rawValue].isAwake
    }

    /// What waits for a lane, in order; nothing: the lane must be woken for the next.
    mutating func take(_ lane: StoreLane) -> [Call] {
        let calls = exchange(&queues[lane.rawValue].calls, with: [])
        if calls.isEmpty { queues[lane.rawValue].isAwake = false }
        return calls
    }

    /// Calls that were taken have had their effect: what was held for them goes on.
    ///
    /// - Returns: The lanes that must be woken.
    mutating func finish(_ calls: some Sequence<Call>) -> [StoreLane] {
        var woken: [StoreLane] = []
        for call in calls {
            count -= 1
            for released in finish(call) where enqueue(released) { woken.append(released.lane) }
        }
        return woken
    }

    private mutating func finish(_ call: Call) -> [Call] {
        guard let index = sessions.index(forKey: call.session) else { return [] }
        sessions.values[index].underWay -= 1
        sessions.values[index].sizeBytes -= call.sizeBytes
        guard sessions.values[index].underWay == 0 else { return [] }
        let released = Self.release(&sessions.values[index])
        if released.isEmpty { sessions.remove(at: index) }
        return released
    }

    /// The calls at the front that are for one lane.
    private static func release(_ session: inout Session) -> [Call] {
        var released: [Call] = []
        while let next = session.held.first, released.first.map({ $0.lane == next.lane }) ?? true {
            session.lane = next.lane
            session.underWay += 1
            released.append(next)
            session.held.removeFirst()
        }
        return released
    }
}

/// First in, first out.
struct WaitingLine<Element> {
    /// Those taken out leave nil, so that the others keep their places; never more than half of them are nil.
    private var places: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == places.count }
    var first: Element? { isEmpty ? nil : places[start] }

    mutating func append(_ element: Element) { places.append(element) }

    /// The line is not empty.
    mutating func removeFirst() {
        places[start] = nil
        start += 1
        guard start > places.count / 2 || isEmpty else { return }
        places.removeFirst(start)
        start = 0
    }
}
