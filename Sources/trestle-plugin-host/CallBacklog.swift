import BlockingLanes

/// The received calls that have not begun, in a queue for each user. Users take turns, so that a user with thousands of
/// calls delays the call of another user only by the work of a few. Loop thread only.
struct CallBacklog {
    /// A received call.
    struct Call {
        let id: UInt64
        /// The number of its task.
        let task: Int
        let options: [UInt8]
        /// The caller, as text of the daemon.
        let caller: [UInt8]
        let wantsProgress: Bool
        /// The deadline of the answer, on the loop's clock; `nil` if there is none.
        let deadlineNanoseconds: UInt64?
    }

    /// The ids of the calls in turn. Those of cancelled calls stay until their turn.
    private var turns = UserTurns<UInt64>()
    private var calls: [UInt64: Call] = [:]

    var isEmpty: Bool { calls.isEmpty }

    /// Appends a call to the queue of a user.
    mutating func append(_ call: Call, of user: UInt32) {
        calls[call.id] = call
        turns.append(call.id, of: user)
    }

    /// Removes and returns the next call of the user whose turn it is; `nil` if there is none.
    mutating func popFirst() -> Call? {
        while let id = turns.popFirst() {
            if let call = calls.removeValue(forKey: id) { return call }
        }
        return nil
    }

    /// Removes a call.
    ///
    /// - Returns: Whether it waited.
    mutating func remove(_ id: UInt64) -> Bool {
        guard calls.removeValue(forKey: id) != nil else { return false }
        if calls.isEmpty { turns = UserTurns() }
        return true
    }
}
