// Which lines of plugins get into the log.
extension CallEngine {
    /// Decides about a line that a plugin writes for a call. It counts for the caller's user: a user cannot fill the
    /// log, and hide what it says of others, by calling a task that writes to it. Users whom the daemon trusts have no
    /// bound.
    ///
    /// - Returns: nil: the line is of no call, of none that is in flight, or of one of a trusted user.
    func admitLogLine(of handle: CallHandle) -> LogAllowance.Verdict? {
        guard let account = call(handle)?.session?.account, !account.isTrusted else { return nil }
        return account.logLines.take(at: clock.now)
    }

    /// The sentence about the lines of a call's user that were left out.
    func lostLogLines(_ count: Int, of handle: CallHandle) -> String {
        let label = call(handle)?.session?.account.label ?? "a user"
        return "\(count) lines of the plugin about calls of \(label) were left out"
    }
}
