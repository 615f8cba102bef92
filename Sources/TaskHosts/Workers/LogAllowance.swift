import EventLoop

/// How many lines a worker may write into the log: a hundred a second, of which it may save up two seconds' worth.
struct LogAllowance {
    /// What becomes of a line.
    enum Verdict: Equatable {
        case write
        /// So many were left out before it.
        case writeAfter(Int)
        case leaveOut
    }

    static let linesPerSecond = 100.0
    static let savedLines = 200.0

    private var allowed = savedLines
    private var last: MonotonicInstant?
    private var lostLines = 0

    mutating func take(at now: MonotonicInstant) -> Verdict {
        if let last {
            let seconds = Double((now - last).milliseconds) / 1_000
            if seconds > 0 {
                allowed = min(Self.savedLines, allowed + seconds * Self.linesPerSecond)
                self.last = now
            }
        } else {
            last = now
        }
        guard allowed >= 1 else {
            lostLines += 1
            return .leaveOut
        }
        allowed -= 1
        guard lostLines > 0 else { return .write }
        defer { lostLines = 0 }
        return .writeAfter(lostLines)
    }
}
