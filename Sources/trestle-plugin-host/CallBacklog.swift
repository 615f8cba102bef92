import BlockingLanes

/// Calls that have come and not begun, in a line for each user. Users take turns, so that one who sends thousands of
/// calls delays a call of another by the work of a few. Loop thread only.
struct CallBacklog {
    /// A call as it came.
    struct Call {
        let id: UInt64
        /// The number of its task.
        let task: Int
        let options: [UInt8]
        /// Who calls, as the daemon wrote it.
        let caller: [UInt8]
        let wantsProgress: Bool
        /// By when it is to be answered, on the loop's clock; nil: at no time.
        let deadlineNanoseconds: UInt64?
    }

    /// Those that were cancelled stay in here until their turn.
    private var turns = UserTurns<UInt64>()
    private var calls: [UInt64: Call] = [:]

    var isEmpty: Bool { calls.isEmpty }

    /// Takes in the last call of a user.
    mutating func append(_ call: Call, of user: UInt32) {
        calls[call.id] = call
        turns.append(call.id, of: user)
    }

    /// Takes the next call of the user whose turn it is.
    mutating func popFirst() -> Call? {
        while let id = turns.popFirst() {
            if let call = calls.removeValue(forKey: id) { return call }
        }
        return nil
    }

    /// Takes a call out.
    ///
    /// - Returns: Whether it waited.
    mutating func remove(_ id: UInt64) -> Bool {
        guard calls.removeValue(forKey: id) != nil else { return false }
        if calls.isEmpty { turns = UserTurns() }
        return true
    }
}
