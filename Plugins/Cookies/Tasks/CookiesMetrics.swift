import TaskKit

/// The plugin's figures, as operators see them. Any thread.
struct CookiesMetrics: Sendable {
    /// Cookies of the profiles in memory.
    var cookies = Gauge()
    var watches = Gauge()
    var commits = Counter()
    /// Cookies that were set, changed or removed.
    var changes = Counter()

    /// Figures that no one sees.
    init() {}

    init(_ context: PluginContext) {
        cookies = context.gauge("cookies", "Cookies of the profiles that are in memory.")
        watches = context.gauge("watches", "Sessions that are sent the changes of a profile.")
        commits = context.counter("commits", "Commits, each of which may hold the changes of many calls.")
        changes = context.counter("cookie_changes", "Cookies that were set, changed or removed.")
    }

    func note(cookies count: Int, watches listeners: Int) {
        cookies.set(count)
        watches.set(listeners)
    }
}
