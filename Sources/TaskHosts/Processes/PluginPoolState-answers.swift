// The decisions that a pool's state returns.
extension PluginPoolState {
    /// The next step for a process whose caller has ended.
    enum Step {
        /// The process must discard the state of this caller; ``cleaned(_:)`` follows.
        case clean
        /// The process ends and is replaced. The pool has removed it.
        case replace
        /// The process holds an end of a stream. No other caller gets it before that ends.
        case workOn
    }

    /// The availability of a process for a call.
    enum Room {
        /// The process that the session holds.
        case leased(Process)
        /// A process without a caller.
        case free
        case none
    }

    /// Processes that are no longer needed.
    struct Expired {
        /// Processes that still work too long after their callers have disconnected. They are replaced.
        var overdue: [Process] = []
        /// Processes that hold ends of streams that do not move while calls wait. They are replaced.
        var stalled: [Process] = []
        /// Processes that were not needed in a whole period. They end.
        var needless: [Process] = []
    }
}
