import TaskKit

/// The plugin's metrics for operators. Any thread.
struct LoginMetrics: Sendable {
    var accounts = Gauge()
    /// Successful logins, by password or by token.
    var logins = Counter()
    var failedLogins = Counter()
    /// Attempts that were refused without a check.
    var lockedLogins = Counter()

    /// Creates metrics that are not published.
    init() {}

    init(_ context: PluginContext) {
        accounts = context.gauge("accounts", "The number of accounts.")
        logins = context.counter("logins", "Successful logins, by password or by token.")
        failedLogins = context.counter("failed_logins", "Logins with a wrong user, password or token.")
        lockedLogins = context.counter(
            "locked_logins", "Logins that were refused because of too many wrong ones before.")
    }
}
