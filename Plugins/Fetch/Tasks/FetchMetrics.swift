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
        running = context.gauge("running", "Fetches whose response is not complete.")
        queued = context.gauge("queued", "Fetches that wait because of a limit of their user or of all users.")
        threads = context.gauge("threads", "Users with a thread for their transfers.")
        fetches = context.counter("fetches", "Fetches that began.")
        failures = context.counter("failures", "Fetches that ended with an error, including refusals.")
        refusals = context.counter("refusals", "Fetches of addresses, ports or schemes that are not allowed.")
        received = context.counter("received", "Received bytes of response bodies, before decoding.", unit: .bytes)
        hits = context.counter("cache_hits", "Responses from the cache, including validated ones.")
        evictions = context.counter("cache_evictions", "Responses that the cache removed to free space.")
    }
}
