import TaskKit

/// The plugin's figures, as operators see them. Any thread.
struct FetchMetrics: Sendable {
    /// Fetches that run, and that wait for their turn.
    var running = Gauge()
    var queued = Gauge()
    /// Users at work.
    var threads = Gauge()
    var fetches = Counter()
    var failures = Counter()
    var refusals = Counter()
    var received = Counter()
    /// Of the cache.
    var hits = Counter()
    var evictions = Counter()

    /// Figures that no one sees.
    init() {}

    init(_ context: PluginContext) {
        running = context.gauge("running", "Fetches whose response has not come to its end.")
        queued = context.gauge("queued", "Fetches that wait for others of their user, or of all, to end.")
        threads = context.gauge("threads", "Users whose transfers have a thread.")
        fetches = context.counter("fetches", "Fetches that began.")
        failures = context.counter("failures", "Fetches that ended with an error, refusals among them.")
        refusals = context.counter("refusals", "Fetches of addresses, ports or schemes that are not allowed.")
        received = context.counter("received", "Bytes of responses' bodies, as they came.", unit: .bytes)
        hits = context.counter("cache_hits", "Responses that the cache gave, validated ones among them.")
        evictions = context.counter("cache_evictions", "Responses that the cache removed to make room for others.")
    }
}
