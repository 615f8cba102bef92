import BridgeMessage

/// What a process has to read before it comes to a ping. While it reads on, it has much to do, and does it; a ping that
/// it has read, it answers at once.
struct PingBacklog {
    /// Where the ping ends in all that was sent to the process.
    private let end: UInt64
    /// How much of that it had taken at the last look.
    private var taken: UInt64

    /// - Parameters:
    ///   - unread: The bytes that waited before the ping.
    ///   - end: The bytes that were ever sent, the ping included.
    ///   - taken: Those of them that the process had taken.
    init(unread: Int, end: UInt64, taken: UInt64) {
        self.end = end
        self.taken = unread > 0 ? taken : end
    }

    /// Whether the process has taken something of what was sent before the ping since the last look.
    mutating func hasMoved(to taken: UInt64) -> Bool {
        let before = self.taken
        self.taken = taken
        return before < end && taken > before
    }
}

extension PluginProcessLink {
    /// How many bytes wait to be read by the process.
    var unreadBytes: Int { output.count }
    /// How many it has ever taken.
    var takenBytes: UInt64 { output.removedCount }
}
