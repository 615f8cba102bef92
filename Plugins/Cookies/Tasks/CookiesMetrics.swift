import TaskKit

/// The plugin's metrics for operators. Any thread.
struct CookiesMetrics: Sendable {
    /// The number of cookies of the profiles in memory.
    var cookies = Gauge()
    var watches = Gauge()
    var commits = Counter()
    /// The number of cookies that were set, changed or removed.
    var changes = Counter()

    /// Creates metrics that are not published.
    init() {}

    init(_ context: PluginContext) {
        cookies = context.gauge("cookies", "Cookies of the profiles that are in memory.")
        watches = context.gauge("watches", "Sessions that receive the changes of a profile.")
        commits = context.counter("commits", "Commits; each may contain the changes of many calls.")
        changes = context.counter("cookie_changes", "Cookies that were set, changed or removed.")
    }

    func note(cookies count: Int, watches listeners: Int) {
        cookies.set(count)
        watches.set(listeners)
    }
}
