/// Work of a plugin that continues although its call has ended, and the accounts it belongs to. It counts towards the
/// user's limit in the plugin until the plugin has answered. Loop thread only.
struct UnfinishedWork {
    /// The maximum number of entries. Above it, each new entry replaces an arbitrary one: such a plugin stopped
    /// answering long ago.
    private static let maximumCount = 65_536
    /// How long a plugin may leave ended calls unanswered while a user is at the limit.
    private static let answerTimeout = Duration.seconds(60)

    private struct Work {
        let task: TaskEntry
        /// `nil` if the call is the daemon's own.
        let account: UserAccount?
    }

    /// The plugin's number.
    private let plugin: UInt64
    private var works: [CallHandle: Work] = [:]
    /// The moment when the plugin last answered such a call, or had none.
    private var movedAt = RuntimeInstant.never

    init(of plugin: UInt64) { self.plugin = plugin }

    /// Whether the plugin has answered none of these calls for longer than an answer to an ended call may take.
    func isStuck(at now: RuntimeInstant) -> Bool { !works.isEmpty && movedAt.advanced(by: Self.answerTimeout) <= now }

    /// Adds a call that has ended while the plugin works on it.
    ///
    /// - Returns: The task of an entry that was dropped to make room; `nil` if none was.
    mutating func add(_ call: Call, of task: TaskEntry, at now: RuntimeInstant) -> TaskEntry? {
        let forgotten = works.count >= Self.maximumCount ? works.keys.first.flatMap { remove($0, at: now) } : nil
        if works.isEmpty { movedAt = now }
        let account = call.session?.account
        works[call.handle] = Work(task: task, account: account)
        account?.unfinished.add(in: plugin)
        return forgotten
    }

    /// Removes a call that the plugin has answered.
    ///
    /// - Returns: The task; `nil` if no work continues for this call.
    mutating func remove(_ handle: CallHandle, at now: RuntimeInstant) -> TaskEntry? {
        guard let work = works.removeValue(forKey: handle) else { return nil }
        movedAt = now
        work.account?.unfinished.remove(in: plugin)
        return work.task
    }

    /// Removes all entries: the plugin has ended, or stopped answering long ago.
    ///
    /// - Returns: The tasks, once for each call.
    @discardableResult
    mutating func removeAll() -> [TaskEntry] {
        for work in works.values { work.account?.unfinished.remove(in: plugin) }
        defer { works = [:] }
        return works.values.map(\.task)
    }
}
