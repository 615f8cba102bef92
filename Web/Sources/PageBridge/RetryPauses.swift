/// The pauses before connections that follow a lost one: they double.
struct RetryPauses {
    /// Short: a daemon that is restarted is back by then.
    private static let first = Duration.milliseconds(100)
    /// As long as client libraries wait.
    private static let longest = Duration.seconds(15)
    private var upcoming = first

    /// The next pause.
    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, Self.longest) }
        return upcoming
    }
}
