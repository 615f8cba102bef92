import BridgeMessage

/// What a process has to do before it comes to a ping. While it reads what was sent before, or answers anything, it has
/// much to do, and does it.
struct PingBacklog {
    /// Where the ping ends in all that was sent to the process.
    private let end: UInt64
    /// How much of that it had taken, and how many answers it had given, at the last look.
    private var taken: UInt64
    private var answers: UInt64

    /// - Parameters:
    ///   - unread: The bytes that waited before the ping.
    ///   - end: The bytes that were ever sent, the ping included.
    ///   - taken: Those of them that the process had taken.
    ///   - answers: The answers that it had given.
    init(unread: Int, end: UInt64, taken: UInt64, answers: UInt64) {
        self.end = end
        self.taken = unread > 0 ? taken : end
        self.answers = answers
    }

    /// Whether the process has taken something of what was sent before the ping, or has answered something, since the
    /// last look.
    mutating func hasMoved(to taken: UInt64, answers: UInt64) -> Bool {
        let before = self
        (self.taken, self.answers) = (taken, answers)
        return before.taken < end && taken > before.taken || answers > before.answers
    }
}

extension PluginProcessLink {
    /// How many bytes wait to be read by the process.
    var unreadBytes: Int { output.count }
    /// How many it has ever taken.
    var takenBytes: UInt64 { output.removedCount }
}
