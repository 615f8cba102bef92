/// How many lines a plugin, or a user by its tasks, may have written into the log: a hundred a second, of which it may
/// save up two seconds' worth.
public struct LogAllowance {
    /// What becomes of a line.
    public enum Verdict: Equatable, Sendable {
        /// It is written.
        case write
        /// So many were left out before it.
        case writeAfter(Int)
        /// It is left out, and counted.
        case leaveOut
    }

    private static let linesPerSecond = 100.0
    private static let savedLines = 200.0

    private var allowed = savedLines
    private var last: RuntimeInstant?
    private var lostLines = 0

    /// Two seconds' worth to begin with.
    public init() {}

    /// One more line is to be written.
    public mutating func take(at now: RuntimeInstant) -> Verdict {
        if let last {
            let seconds = Double(now.since(last).wholeMilliseconds) / 1_000
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
