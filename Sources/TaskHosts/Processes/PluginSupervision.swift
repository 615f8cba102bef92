import EventLoop

/// Whether and when processes of a plugin are started again after faults, and whether all of them have ended. Neither
/// processes, timers nor a clock of its own. Loop thread only.
struct PluginSupervision {
    private var policy = RestartPolicy()
    /// While nothing is started because something has ended; nil: no pause.
    private(set) var pauseEnd: MonotonicInstant?
    /// Whether the plugin is no longer known.
    private(set) var isOver = false
    /// Processes that have not ended.
    private(set) var running = 0
    /// How often a process was started in the place of one that had ended.
    private(set) var restarts = 0
    /// The last fault, in words.
    private(set) var lastFault: String?

    /// Whether a process may be started now.
    var mayStart: Bool { !isOver && pauseEnd == nil }
    /// Whether nothing is left to end.
    var hasEnded: Bool { isOver && running == 0 }

    /// A process has been started.
    mutating func started() { running += 1 }

    /// A process has ended.
    mutating func ended() { running -= 1 }

    /// A process takes the place of one that had ended.
    mutating func noteRestart() { restarts += 1 }

    /// What a fault leads to.
    enum Verdict: Equatable {
        /// The next process is started after this pause, which begins now.
        case pause(Duration)
        /// The same pause as after a fault just before: processes that fall together have one cause, and are one fault.
        case pauseOn(Duration)
        /// There were too many, or the plugin has not been opened: none is started.
        case none

        /// How long it is until the next process; nil: there is none.
        var duration: Duration? {
            switch self {
            case .pause(let duration), .pauseOn(let duration): duration
            case .none: nil
            }
        }
    }

    /// A process has ended, or could not be started.
    ///
    /// - Parameters:
    ///   - isOpen: Whether the plugin takes calls, or is to take them again.
    ///   - chance: From 0 to 1: where within its jitter the pause lies.
    mutating func fault(_ words: String, isOpen: Bool, at now: MonotonicInstant, chance: Double) -> Verdict {
        lastFault = words
        guard isOpen else { return .none }
        if let pauseEnd { return .pauseOn(max(.zero, pauseEnd - now)) }
        guard let pause = policy.fault(at: now, chance: chance) else { return .none }
        pauseEnd = now + pause
        return .pause(pause)
    }

    /// The pause is over.
    mutating func resume() { pauseEnd = nil }

    /// The plugin is no longer known; false: it has not been before.
    mutating func end() -> Bool {
        guard !isOver else { return false }
        isOver = true
        pauseEnd = nil
        return true
    }
}
