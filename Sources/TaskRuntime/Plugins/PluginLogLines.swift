// Admission of plugins' lines to the log.
extension CallEngine {
    /// Decides about a line that a plugin writes for a call. The line counts for the caller's user: otherwise a user
    /// could fill the log by calling a task that writes to it, and so hide other entries. Trusted users have no limit.
    ///
    /// - Returns: The decision; `nil` if the line belongs to no call in flight of a session, or to a call of a trusted
    ///   user.
    func admitLogLine(of handle: CallHandle) -> LogAllowance.Verdict? {
        guard let account = call(handle)?.session?.account, !account.isTrusted else { return nil }
        return account.logLines.take(at: clock.now)
    }

    /// Returns the message about the omitted lines for a call's user.
    func lostLogLines(_ count: Int, of handle: CallHandle) -> String {
        let label = call(handle)?.session?.account.label ?? "a user"
        return "\(count) lines of the plugin about calls of \(label) were left out"
    }
}
