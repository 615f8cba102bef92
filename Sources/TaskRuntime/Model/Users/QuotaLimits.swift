/// The maximum number of calls at a time and per second. 0 means no limit.
public struct CallQuota: Sendable, Hashable {
    /// Calls that have not ended.
    public var callsInFlight: Int
    /// Calls that begin per second, on average.
    public var callsPerSecond: Int
    /// Calls that may begin together after a pause; 0 means as many as in a second.
    public var burst: Int

    /// Creates a quota; by default without limits.
    public init(callsInFlight: Int = 0, callsPerSecond: Int = 0, burst: Int = 0) {
        self.callsInFlight = callsInFlight
        self.callsPerSecond = callsPerSecond
        self.burst = burst
    }
}

/// The limits of all sessions of one uid together.
public struct UserQuota: Sendable, Equatable {
    /// Sessions: far more than the pages and scripts of one desktop.
    public var connections = 1_000
    /// Calls: as many as 16 sessions may have in flight; no limit per second.
    public var calls = CallQuota(callsInFlight: 16_384)
    /// Bytes that the daemon holds for them: answers and events that have not been read, lines that are not complete,
    /// options of calls in flight.
    public var queuedBytes = 256 << 20
    /// Event patterns. Each uses memory until it is removed; the search for an event does not depend on their number.
    public var subscriptions = 16_384
    /// Tasks that they provide.
    public var tasks = 1_024
    /// Streams that have not ended.
    public var streams = 1_024

    /// Creates the standard limits.
    public init() {}

    /// Returns the quota multiplied by a factor.
    func times(_ factor: Int) -> UserQuota {
        func times(_ number: Int) -> Int {
            let (product, overflow) = number.multipliedReportingOverflow(by: factor)
            return overflow ? .max : product
        }
        var quota = UserQuota()
        quota.connections = times(connections)
        quota.calls = CallQuota(
            callsInFlight: times(calls.callsInFlight), callsPerSecond: times(calls.callsPerSecond),
            burst: times(calls.burst))
        quota.queuedBytes = times(queuedBytes)
        quota.subscriptions = times(subscriptions)
        quota.tasks = times(tasks)
        quota.streams = times(streams)
        return quota
    }
}

/// The limits of sessions, users, plugins and tasks, in addition to ``RuntimeLimits``: docs/quotas.md.
public struct QuotaLimits: Sendable, Equatable {
    /// The maximum number of a user's ended calls on which a plugin still works: as many as a session may have in
    /// flight.
    static let unfinishedCalls = 1_024
    /// The calls that one session may make per second. The limit of its calls in flight is in ``RuntimeLimits``.
    public var sessionCalls = CallQuota()
    /// Event patterns of one session: more than a page needs, and few enough to compare with an event on its way.
    public var sessionSubscriptions = 256
    /// Tasks that one session provides.
    public var sessionTasks = 256
    /// Streams of one session: several times the downloads that a page has in parallel.
    public var sessionStreams = 64
    /// The limits of all sessions of one uid together.
    public var user = UserQuota()
    /// The factor by which the quota of root and of the daemon's own user is larger, because the machine serves them.
    /// They are limited as well, so that a fault of one of their programs affects no other program.
    public var trustedFactor = 16
    /// Bytes that the daemon holds for all users together.
    public var queuedBytes = 1 << 30
    /// Calls in flight that one plugin has made.
    public var pluginCallsInFlight = 65_536
    /// Calls of a plugin's tasks by all callers, by the plugin's name.
    public var plugins: [String: CallQuota] = [:]
    /// Calls of a task by all callers, by the task's name.
    public var tasks: [String: CallQuota] = [:]

    /// Creates the standard limits.
    public init() {}
}

/// The quantities that have quotas, as errors and metrics name them.
enum QuotaName: String, CaseIterable {
    case connections
    case callsInFlight = "calls_in_flight"
    case unfinishedCalls = "unfinished_calls"
    case callsPerSecond = "calls_per_second"
    case queuedBytes = "queued_bytes"
    case subscriptions
    case tasks
    case streams
    case retainedEvents = "retained_events"
    case retainedBytes = "retained_bytes"
    case descriptionBytes = "description_bytes"
}

/// The maximum memory for the descriptions of tasks that clients provide: ``Quotas/holdDescription(_:for:)``.
enum DescriptionBytes {
    /// For all users together; root and the daemon's own user may use all of it.
    static let maximum = 128 << 20
    /// For one other user: 1,024 tasks with schemas of 3 KiB each.
    static let maximumOfUser = 32 << 20
}
