/// How many calls there may be at a time, and in a second. 0 stands for any number.
public struct CallQuota: Sendable, Hashable {
    /// Calls that have not ended.
    public var callsInFlight: Int
    /// Calls that begin, on the average.
    public var callsPerSecond: Int
    /// Calls that may begin together after a pause; 0: as many as in a second.
    public var burst: Int

    /// By default any number.
    public init(callsInFlight: Int = 0, callsPerSecond: Int = 0, burst: Int = 0) {
        self.callsInFlight = callsInFlight
        self.callsPerSecond = callsPerSecond
        self.burst = burst
    }
}

/// What all sessions of one uid may take together.
public struct UserQuota: Sendable, Equatable {
    /// Sessions: a desk full of pages and scripts, many times over.
    public var connections = 1_000
    /// Calls: what 16 sessions may have in flight at the most; any number in a second.
    public var calls = CallQuota(callsInFlight: 16_384)
    /// Bytes that the daemon holds for them: answers and events that are not read yet, lines whose end has not come,
    /// options of calls in flight.
    public var queuedBytes = 256 << 20
    /// Patterns of events: every event is held against every one of them.
    public var subscriptions = 16_384
    /// Tasks that they provide.
    public var tasks = 1_024
    /// Streams that are not over.
    public var streams = 1_024

    /// The standard bounds.
    public init() {}

    /// So many times as much.
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

/// What sessions, users, plugins and tasks may take, beside ``RuntimeLimits``: docs/quotas.md.
public struct QuotaLimits: Sendable, Equatable {
    /// On how many calls of a user that have ended a plugin may still work: as many as a session may have in flight.
    static let unfinishedCalls = 1_024
    /// What one session may call in a second. How many calls it may have in flight is in ``RuntimeLimits``.
    public var sessionCalls = CallQuota()
    /// Patterns of events of one session: more than a page ever needs, few enough to go through with each event.
    public var sessionSubscriptions = 256
    /// Tasks that one session provides.
    public var sessionTasks = 256
    /// Streams of one session: as many downloads as a page has in parallel, several times over.
    public var sessionStreams = 64
    /// What the sessions of one uid may take together.
    public var user = UserQuota()
    /// By so much is the quota of root and of the daemon's own user larger: they are bound as well, so that a fault of
    /// one program of theirs ends nothing else, but they are who the machine works for.
    public var trustedFactor = 16
    /// Bytes that the daemon holds for all users together.
    public var queuedBytes = 1 << 30
    /// Calls that one plugin has made and that have not ended.
    public var pluginCallsInFlight = 65_536
    /// Calls of a plugin's tasks, no matter who makes them, by the plugin's name.
    public var plugins: [String: CallQuota] = [:]
    /// Calls of a task, no matter who makes them, by its name.
    public var tasks: [String: CallQuota] = [:]

    /// The standard bounds.
    public init() {}
}

/// What there are quotas of, as errors and figures call them.
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

/// How much may be held for the descriptions of tasks that clients provide: ``Quotas/holdDescription(_:for:)``.
enum DescriptionBytes {
    /// Of all users together; root and the daemon's own user may have as much.
    static let maximum = 128 << 20
    /// Of one other user: 1,024 tasks with schemas of 3 KiB each.
    static let maximumOfUser = 32 << 20
}
