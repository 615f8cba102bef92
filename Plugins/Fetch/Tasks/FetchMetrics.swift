import TaskKit

/// The plugin's metrics for operators. Any thread.
struct FetchMetrics: Sendable {
    /// The numbers of running fetches and of fetches that wait for their turn.
    var running = Gauge()
    var queued = Gauge()
    /// The number of users whose transfers have a thread.
    var threads = Gauge()
    var fetches = Counter()
    var failures = Counter()
    var refusals = Counter()
    var received = Counter()
    /// Metrics of the cache.
    var hits = Counter()
    var evictions = Counter()

    /// Creates metrics that are not published.
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
