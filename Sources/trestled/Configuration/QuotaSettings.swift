// The declarations of the settings under [quotas].
import TaskRuntime

extension Configuration {
    static let quotaSettings: [Setting<Configuration>] = [
        Declaration(
            "quotas.session_calls_per_second", .count("calls", in: 0...CallQuotaKey.maximum),
            \.quotas.sessionCalls.callsPerSecond, .reload,
            """
            The maximum number of calls that one session begins in a second. One more fails with busy and the time to \
            wait.
            """),
        Declaration(
            "quotas.session_calls_burst", .count("calls", in: 0...CallQuotaKey.maximum), \.quotas.sessionCalls.burst,
            .reload,
            "The maximum number of calls that one session begins together after a pause. 0: as many as in a second."),
        Declaration(
            "quotas.session_subscriptions", .count("patterns", in: 1...100_000), \.quotas.sessionSubscriptions, .reload,
            "The maximum number of event patterns to which one session subscribes."),
        Declaration(
            "quotas.session_tasks", .count("tasks", in: 1...100_000), \.quotas.sessionTasks, .reload,
            "The maximum number of tasks that one session provides."),
        Declaration(
            "quotas.session_streams", .count("streams", in: 1...100_000), \.quotas.sessionStreams, .reload,
            "The maximum number of open streams of one session."),
        Declaration(
            "quotas.uid_connections", .count("connections", in: 1...1_000_000), \.quotas.user.connections, .reload,
            "The maximum number of connections of one uid. One more gets the error busy and is closed."),
        Declaration(
            "quotas.uid_calls_in_flight", .count("calls", in: 0...CallQuotaKey.maximum),
            \.quotas.user.calls.callsInFlight, .reload,
            "The maximum number of calls of one uid's sessions that have not ended. One more fails with busy."),
        Declaration(
            "quotas.uid_calls_per_second", .count("calls", in: 0...CallQuotaKey.maximum),
            \.quotas.user.calls.callsPerSecond, .reload,
            "The maximum number of calls that one uid's sessions begin in a second."),
        Declaration(
            "quotas.uid_calls_burst", .count("calls", in: 0...CallQuotaKey.maximum), \.quotas.user.calls.burst, .reload,
            """
            The maximum number of calls that one uid's sessions begin together after a pause. 0: as many as in a \
            second.
            """),
        Declaration(
            "quotas.uid_queued_bytes", .bytes(in: 64 * kibibyte...1_024 * 1_024 * mebibyte), \.quotas.user.queuedBytes,
            .reload,
            """
            The maximum size of what the daemon stores in memory for one uid: unread answers and events, incomplete \
            lines, and options of calls in flight. Above it, large answers and calls fail with busy, and requests of \
            sessions with unread answers wait.
            """),
        Declaration(
            "quotas.uid_subscriptions", .count("patterns", in: 1...10_000_000), \.quotas.user.subscriptions, .reload,
            "The maximum number of event patterns to which one uid's sessions subscribe."),
        Declaration(
            "quotas.uid_tasks", .count("tasks", in: 1...10_000_000), \.quotas.user.tasks, .reload,
            "The maximum number of tasks that one uid's sessions provide."),
        Declaration(
            "quotas.uid_streams", .count("streams", in: 1...10_000_000), \.quotas.user.streams, .reload,
            "The maximum number of open streams of one uid's sessions."),
        Declaration(
            "quotas.trusted_factor", .count("", in: 1...1_000_000), \.quotas.trustedFactor, .reload,
            "The factor by which the quotas of a uid are multiplied for local sessions of root and of the daemon's own "
                + "user."
        ),
        Declaration(
            "quotas.queued_bytes", .bytes(in: mebibyte...1_024 * 1_024 * mebibyte), \.quotas.queuedBytes, .reload,
            "The same as quotas.uid_queued_bytes, for all users together."),
        Declaration(
            "quotas.plugin_calls_in_flight", .count("calls", in: 1...CallQuotaKey.maximum),
            \.quotas.pluginCallsInFlight,
            .reload, "The maximum number of calls made by one plugin that have not ended. One more fails with busy."),
        Declaration(
            "quotas.plugins", .callQuotas, \.quotas.plugins, .reload,
            "The quotas of all calls of a plugin's tasks, by the plugin's name."),
        Declaration(
            "quotas.tasks", .callQuotas, \.quotas.tasks, .reload,
            "The quotas of all calls of a task, by its name."),
    ]
}

/// The settings of a call quota.
enum CallQuotaKey: String, CaseIterable {
    case callsInFlight = "calls_in_flight"
    case callsPerSecond = "calls_per_second"
    case callsBurst = "calls_burst"

    /// Larger than any useful quota.
    static let maximum = 1_000_000_000
    static let range = 0...maximum
    static let listed = "calls_in_flight, calls_per_second, calls_burst"

    var path: WritableKeyPath<CallQuota, Int> {
        switch self {
        case .callsInFlight: \.callsInFlight
        case .callsPerSecond: \.callsPerSecond
        case .callsBurst: \.burst
        }
    }
}
