/// Refusals that the log reports together, in at most one line in ten seconds.
struct RefusalReports {
    private static let interval = Duration.seconds(10)

    /// The number of refusals that have not been reported.
    private var count = 0
    private var reportedAt: RuntimeInstant?

    /// Counts a refusal, and returns whether a report is due.
    mutating func note(at now: RuntimeInstant) -> Bool {
        count += 1
        if let reportedAt, now.since(reportedAt) < Self.interval { return false }
        reportedAt = now
        return true
    }

    /// Returns the number of refusals for the report, and begins at 0 again.
    mutating func take() -> Int {
        defer { count = 0 }
        return count
    }
}
