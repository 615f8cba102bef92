import TaskKit

/// The queues of waiting calls, by lane. Calls that must wait for other calls of their session are held back.
///
/// The rule of order: a session's calls take effect in the order of arrival, so that its reads see exactly its own
/// earlier writes. All active calls of a session are on one lane, which keeps their order. A call for another lane is
/// held until they are finished, and so are all calls of its session behind it. Calls of different sessions never wait
/// for each other here.
///
/// The rule of turns: the calls for a lane are taken from the users in turn, see ``UserTurns``. A session has one user,
/// so its order is kept.
///
/// Pure: no I/O, no clock, no threads.
struct CallQueues {
    typealias Call = any StoreCall

    private struct Session {
        /// The lane of the session's active calls, which are in the lane's queue or being executed.
        var lane: StoreLane
        var underWay = 0
        /// The calls behind them, the first of which is for another lane.
        var held = WaitingLine<Call>()
        /// The bytes of the options of all these calls.
        var sizeBytes = 0

        /// - Returns: Whether the call is held; otherwise it goes to its lane.
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

        /// Releases the held calls at the front that are for one lane.
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
        /// Whether a job will take the calls, or is executing calls that it took before.
        var isAwake = false
    }

    private var sessions: [SessionID: Session] = [:]
    private var queues = StoreLane.allCases.map { _ in Queue() }
    /// The number of calls that are not finished.
    private(set) var count = 0

    enum Admission {
        /// The call's lane must be woken.
        case first
        case queued
        case refused
    }

    /// Admits a call.
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

    /// Takes the next calls for a lane, as many as it executes together. If there is none, the lane must be woken for
    /// the next one.
    ///
    /// - Parameter calls: An empty array, whose storage is reused.
    mutating func take(_ lane: StoreLane, into calls: inout [Call]) {
        while calls.count < lane.callsAtOnce, let call = queues[lane.rawValue].calls.popFirst() { calls.append(call) }
        if calls.isEmpty { queues[lane.rawValue].isAwake = false }
    }

    /// Puts the calls that a lane took last back to their positions, because there was no time for them.
    mutating func putBack(_ calls: [Call], _ lane: StoreLane) {
        for call in calls.reversed() { queues[lane.rawValue].calls.putBack(call, of: call.user) }
    }

    /// Ends a user's turn on a lane.
    mutating func endTurn(of user: UInt32, _ lane: StoreLane) { queues[lane.rawValue].calls.endTurn(of: user) }

    /// Finishes calls that were taken, and releases the calls that were held for them.
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
