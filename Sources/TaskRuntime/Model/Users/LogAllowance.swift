/// The number of lines that a plugin, or a user through the tasks it calls, may write into the log: 100 per second, of
/// which two seconds' worth can be saved up.
public struct LogAllowance {
    /// The decision about a line.
    public enum Verdict: Equatable, Sendable {
        /// It is written.
        case write
        /// It is written. This number of lines was left out before it.
        case writeAfter(Int)
        /// It is left out, and counted.
        case leaveOut
    }

    private static let linesPerSecond = 100.0
    private static let savedLines = 200.0

    private var allowed = savedLines
    private var last: RuntimeInstant?
    private var lostLines = 0

    /// Creates an allowance of two seconds' worth.
    public init() {}

    /// Decides about one more line.
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
