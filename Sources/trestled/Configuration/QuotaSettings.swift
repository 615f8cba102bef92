// The declarations of the settings under [quotas].
import TaskRuntime

extension Configuration {
    static let quotaSettings: [Setting<Configuration>] = [
        Declaration(
            "quotas.session_calls_per_second", .count("calls", in: 0...CallQuotaKey.maximum),
            \.quotas.sessionCalls.callsPerSecond, .reload,
            "Calls of one session that begin in a second. One more is answered busy, with the time until there is room."
        ),
        Declaration(
            "quotas.session_calls_burst", .count("calls", in: 0...CallQuotaKey.maximum), \.quotas.sessionCalls.burst,
            .reload,
            "Calls of one session that may begin together after a pause; 0: as many as in a "
                + "second."),
        Declaration(
            "quotas.session_subscriptions", .count("patterns", in: 1...100_000), \.quotas.sessionSubscriptions, .reload,
            "Patterns of events that one session listens to."),
        Declaration(
            "quotas.session_tasks", .count("tasks", in: 1...100_000), \.quotas.sessionTasks, .reload,
            "Tasks that one session provides."),
        Declaration(
            "quotas.session_streams", .count("streams", in: 1...100_000), \.quotas.sessionStreams, .reload,
            "Streams of one session that are not over."),
        Declaration(
            "quotas.uid_connections", .count("connections", in: 1...1_000_000), \.quotas.user.connections, .reload,
            "Connections of one uid. One more gets the error busy, and is closed."),
        Declaration(
            "quotas.uid_calls_in_flight", .count("calls", in: 0...CallQuotaKey.maximum),
            \.quotas.user.calls.callsInFlight, .reload,
            "Calls of one uid's sessions that have not ended; one more is answered busy."),
        Declaration(
            "quotas.uid_calls_per_second", .count("calls", in: 0...CallQuotaKey.maximum),
            \.quotas.user.calls.callsPerSecond, .reload, "Calls of one uid's sessions that begin in a second."),
        Declaration(
            "quotas.uid_calls_burst", .count("calls", in: 0...CallQuotaKey.maximum), \.quotas.user.calls.burst, .reload,
            "Calls of one uid's sessions that may begin together after a pause; 0: as many as in a "
                + "second."
        ),
        Declaration(
            "quotas.uid_queued_bytes", .bytes(in: 64 * kibibyte...1_024 * 1_024 * mebibyte), \.quotas.user.queuedBytes,
            .reload,
            """
            The bytes that the daemon holds for one uid: answers and events that are not read yet, lines without an \
            end, options of calls in flight. Beyond it, large answers and calls become busy, and requests of sessions \
            with unread answers are not read.
            """),
        Declaration(
            "quotas.uid_subscriptions", .count("patterns", in: 1...10_000_000), \.quotas.user.subscriptions, .reload,
            "Patterns of events that one uid's sessions listen to."),
        Declaration(
            "quotas.uid_tasks", .count("tasks", in: 1...10_000_000), \.quotas.user.tasks, .reload,
            "Tasks that one uid's sessions provide."),
        Declaration(
            "quotas.uid_streams", .count("streams", in: 1...10_000_000), \.quotas.user.streams, .reload,
            "Streams of one uid's sessions that are not over."),
        Declaration(
            "quotas.trusted_factor", .count("times", in: 1...1_000_000), \.quotas.trustedFactor, .reload,
            "The factor by which the quotas of a uid are multiplied for local sessions of root and of the daemon's own "
                + "user."
        ),
        Declaration(
            "quotas.queued_bytes", .bytes(in: mebibyte...1_024 * 1_024 * mebibyte), \.quotas.queuedBytes, .reload,
            "What the daemon holds for all users together, as quotas.uid_queued_bytes is for one."),
        Declaration(
            "quotas.plugin_calls_in_flight", .count("calls", in: 1...CallQuotaKey.maximum),
            \.quotas.pluginCallsInFlight,
            .reload, "Calls that one plugin has made and that have not ended; one more is answered busy."),
        Declaration(
            "quotas.plugins", .callQuotas, \.quotas.plugins, .reload,
            "What all callers together may call of a plugin's tasks, by the plugin's name."),
        Declaration(
            "quotas.tasks", .callQuotas, \.quotas.tasks, .reload,
            "What all callers together may call of a task, by its name."),
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
