/// The pauses before reconnections: each is twice the previous one.
struct RetryPauses {
    /// Short: a restarted daemon listens again by then.
    private static let first = Duration.milliseconds(100)
    /// The same maximum as in the client libraries.
    private static let longest = Duration.seconds(15)
    private var upcoming = first

    /// Returns the next pause.
    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, Self.longest) }
        return upcoming
    }
}
