import EventLoop

/// Decides whether and when processes of a plugin are started again after faults, and whether all of them have ended.
/// It has no processes, timers or clock of its own. Loop thread only.
struct PluginSupervision {
    private var policy = RestartPolicy()
    /// The end of the pause after a fault, in which no process is started; `nil` without a pause.
    private(set) var pauseEnd: MonotonicInstant?
    /// Whether the plugin has been removed.
    private(set) var isOver = false
    /// The number of processes that have not ended.
    private(set) var running = 0
    /// The number of processes that were started to replace one that had ended.
    private(set) var restarts = 0
    /// A description of the last fault; `nil` if there was none.
    private(set) var lastFault: String?

    /// Whether a process may be started now.
    var mayStart: Bool { !isOver && pauseEnd == nil }
    /// Whether the plugin has been removed and all processes have ended.
    var hasEnded: Bool { isOver && running == 0 }

    /// Counts a process that has been started.
    mutating func started() { running += 1 }

    /// Counts a process that has ended.
    mutating func ended() { running -= 1 }

    /// Counts a process that replaces one that had ended.
    mutating func noteRestart() { restarts += 1 }

    /// The decision after a fault.
    enum Verdict: Equatable {
        /// The next process is started after this pause, which begins now.
        case pause(Duration)
        /// The pause after an earlier fault continues. Faults at the same time have one cause and count as one.
        case pauseOn(Duration)
        /// No process is started, because there were too many faults or the plugin has not been opened.
        case none

        /// The time until the next process; `nil` if none is started.
        var duration: Duration? {
            switch self {
            case .pause(let duration), .pauseOn(let duration): duration
            case .none: nil
            }
        }
    }

    /// Decides about a process that has ended or could not be started.
    ///
    /// - Parameters:
    ///   - isOpen: Whether the plugin takes calls, or waits for a restart.
    ///   - chance: The position of the pause within its jitter, from 0 to 1.
    mutating func fault(_ words: String, isOpen: Bool, at now: MonotonicInstant, chance: Double) -> Verdict {
        lastFault = words
        guard isOpen else { return .none }
        if let pauseEnd { return .pauseOn(max(.zero, pauseEnd - now)) }
        guard let pause = policy.fault(at: now, chance: chance) else { return .none }
        pauseEnd = now + pause
        return .pause(pause)
    }

    /// Ends the pause.
    mutating func resume() { pauseEnd = nil }

    /// Marks the plugin as removed; returns false if it was already.
    mutating func end() -> Bool {
        guard !isOver else { return false }
        isOver = true
        pauseEnd = nil
        return true
    }
}
