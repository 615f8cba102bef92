/// Work of a plugin that goes on though its call has ended, and whose it is: until the plugin has answered, it counts
/// among what the user may have there. Loop thread only.
struct UnfinishedWork {
    /// Beyond this much in all the knowledge of some goes: such a plugin has long stopped answering.
    private static let maximumCount = 65_536
    /// How long a plugin may answer no call that has ended, while a user has as many there as they may.
    private static let patience = Duration.seconds(60)

    private struct Work {
        let task: TaskEntry
        /// Nil: of the daemon itself.
        let account: UserAccount?
    }

    /// The plugin's number.
    private let plugin: UInt64
    private var works: [CallHandle: Work] = [:]
    /// When the plugin last answered such a call, or had none.
    private var movedAt = RuntimeInstant.never

    init(of plugin: UInt64) { self.plugin = plugin }

    /// Whether the plugin has answered none of these calls for longer than it takes to answer a call that has ended.
    func isStuck(at now: RuntimeInstant) -> Bool { !works.isEmpty && movedAt.advanced(by: Self.patience) <= now }

    /// A call that the plugin works on has ended.
    ///
    /// - Returns: The task of work of which no more is known from now on.
    mutating func add(_ call: Call, of task: TaskEntry, at now: RuntimeInstant) -> TaskEntry? {
        let forgotten = works.count >= Self.maximumCount ? works.keys.first.flatMap { remove($0, at: now) } : nil
        if works.isEmpty { movedAt = now }
        let account = call.session?.account
        works[call.handle] = Work(task: task, account: account)
        account?.unfinished.add(in: plugin)
        return forgotten
    }

    /// The plugin has answered.
    ///
    /// - Returns: The task; nil: no work goes on for this call.
    mutating func remove(_ handle: CallHandle, at now: RuntimeInstant) -> TaskEntry? {
        guard let work = works.removeValue(forKey: handle) else { return nil }
        movedAt = now
        work.account?.unfinished.remove(in: plugin)
        return work.task
    }

    /// The plugin is gone, or has long stopped answering.
    ///
    /// - Returns: The tasks, once for each call.
    @discardableResult
    mutating func removeAll() -> [TaskEntry] {
        for work in works.values { work.account?.unfinished.remove(in: plugin) }
        defer { works = [:] }
        return works.values.map(\.task)
    }
}
