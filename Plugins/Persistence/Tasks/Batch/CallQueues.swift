import TaskKit

/// Which calls wait for which lane, and which of them must wait for others of their session first.
///
/// The law of order: a session's calls take effect in the order in which they came, so that its reads see exactly its
/// own earlier writes. All calls of a session that are under way are on one lane, which keeps their order; a call for
/// another lane is held, with everything of its session behind it, until they are finished. Calls of different
/// sessions never wait for each other here.
///
/// The law of turns: what is for a lane is taken user by user, see ``UserTurns``. A session has one user, so that its
/// order is kept.
///
/// Pure: no I/O, no clock, no threads.
struct CallQueues {
    typealias Call = any StoreCall

    private struct Session {
        /// Where its calls are that are under way: in a lane's queue, or being carried out.
        var lane: StoreLane
        var underWay = 0
        /// Those behind them, the first of which is for another lane.
        var held = WaitingLine<Call>()
        /// The options of all of them.
        var sizeBytes = 0

        /// - Returns: Whether the call is held; else it goes to its lane.
        mutating func admit(_ call: Call) -> Bool {
            sizeBytes += call.sizeBytes
            guard held.isEmpty, underWay == 0 || lane == call.lane else {
                held.append(call)
                return true
            }
            lane = call.lane
            underWay += 1
            return false
        }

        /// The calls at the front of those held that are for one lane.
        mutating func release() -> [Call] {
            var released: [Call] = []
            while let next = held.first, released.first.map({ $0.lane == next.lane }) ?? true {
                lane = next.lane
                underWay += 1
                released.append(next)
                held.removeFirst()
            }
            return released
        }
    }

    private struct Queue {
        var calls = UserTurns<Call>()
        /// A job is on the way to take the calls, or at work on those taken before.
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
        let isHeld: Bool
        if let index = sessions.index(forKey: call.session) {
            let total = sessions.values[index].sizeBytes + call.sizeBytes
            guard call.sizeBytes == 0 || total <= Limits.waitingBytesPerSession else { return .refused }
            isHeld = sessions.values[index].admit(call)
        } else {
            guard call.sizeBytes <= Limits.waitingBytesPerSession else { return .refused }
            sessions[call.session] = Session(lane: call.lane, underWay: 1, sizeBytes: call.sizeBytes)
            isHeld = false
        }
        count += 1
        return !isHeld && enqueue(call) ? .first : .queued
    }

    /// - Returns: Whether the lane must be woken.
    private mutating func enqueue(_ call: Call) -> Bool {
        queues[call.lane.rawValue].calls.append(call, of: call.user)
        defer { queues[call.lane.rawValue].isAwake = true }
        return !queues[call.lane.rawValue].isAwake
    }

    /// Takes the next of what waits for a lane, as many as it carries out together; nothing: the lane must be woken for
    /// the next.
    ///
    /// - Parameter calls: Is empty; its storage is reused.
    mutating func take(_ lane: StoreLane, into calls: inout [Call]) {
        while calls.count < lane.callsAtOnce, let call = queues[lane.rawValue].calls.popFirst() { calls.append(call) }
        if calls.isEmpty { queues[lane.rawValue].isAwake = false }
    }

    /// Puts calls of a lane that were taken last back to where they were: there was no time for them.
    mutating func putBack(_ calls: [Call], _ lane: StoreLane) {
        for call in calls.reversed() { queues[lane.rawValue].calls.putBack(call, of: call.user) }
    }

    /// The user has had a turn on a lane.
    mutating func endTurn(of user: UInt32, _ lane: StoreLane) { queues[lane.rawValue].calls.endTurn(of: user) }

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
        let released = sessions.values[index].release()
        if released.isEmpty { sessions.remove(at: index) }
        return released
    }
}
