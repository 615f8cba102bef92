import BridgeMessage

/// The input that a process must handle before a ping. A process that reads earlier input, or answers anything, is busy
/// but works.
struct PingBacklog {
    /// The end of the ping, as a position in all bytes sent to the process.
    private let end: UInt64
    /// The bytes that it had read and the answers that it had given, at the last check.
    private var taken: UInt64
    private var answers: UInt64

    /// - Parameters:
    ///   - unread: The number of bytes that waited before the ping.
    ///   - end: The number of all bytes sent so far, including the ping.
    ///   - taken: The number of those bytes that the process had read.
    ///   - answers: The number of answers that it had given.
    init(unread: Int, end: UInt64, taken: UInt64, answers: UInt64) {
        self.end = end
        self.taken = unread > 0 ? taken : end
        self.answers = answers
    }

    /// Returns whether the process has read input before the ping, or has answered anything, since the last check.
    mutating func hasMoved(to taken: UInt64, answers: UInt64) -> Bool {
        let before = self
        (self.taken, self.answers) = (taken, answers)
        return before.taken < end && taken > before.taken || answers > before.answers
    }
}

extension PluginProcessLink {
    /// The number of bytes that wait to be read by the process.
    var unreadBytes: Int { output.count }
    /// The number of all bytes that it has read.
    var takenBytes: UInt64 { output.removedCount }
}
