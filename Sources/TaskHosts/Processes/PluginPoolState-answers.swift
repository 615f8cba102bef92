// What the state of a pool says.
extension PluginPoolState {
    /// What is to be done with a process whose caller has gone.
    enum Step {
        /// It is to forget that caller; ``cleaned(_:)`` follows.
        case clean
        /// It ends, and others take its place. The pool has forgotten it.
        case replace
        /// It holds an end of a stream: no one else has it before that is over.
        case workOn
    }

    /// Whether a call finds a process.
    enum Room {
        /// This one, which its session has.
        case leased(Process)
        /// One that no one has.
        case free
        case none
    }

    /// Processes that are not needed any longer.
    struct Expired {
        /// They work on too long after their callers have gone, and are replaced.
        var overdue: [Process] = []
        /// They hold ends of streams that stand still, while calls wait, and are replaced.
        var stalled: [Process] = []
        /// They have not been needed in a whole period, and end.
        var needless: [Process] = []
    }
}
