// Answers of Fetch from its cache, and responses that the server must confirm.

private let unpinned = LoadSettings(isPinned: false)
private let one = Shape(1, 1)

func measureCacheHits(_ bench: Bench, _ daemon: Server, _ origin: Origin) throws -> [Line] {
    let onDisk = try bench.startFetchDaemon("cache_memory_bytes = 0\n")
    defer { onDisk.stop() }
    let call = Calls.fetch(origin.url("stored/4096"))
    let rounds = try bench.alternate(
        [daemon, onDisk].map { server in { try bench.load(call, one, on: server, unpinned) } })
    return hitLines("memory", rounds[0], atMost: 250) + hitLines("disk", rounds[1], atMost: 500, aim: 400)
}

private func hitLines(
    _ tier: String, _ rounds: [LoadFigures], atMost maximum: Double, aim: Double? = nil
) -> [Line] {
    func finding(_ name: String, _ value: Double, _ maximum: Double, aim: Double? = nil) -> Finding {
        Finding(
            what: "a cache hit of 4 KiB from \(tier), \(name)", value: value, unit: " µs", digits: 0,
            bound: .atMost(maximum), aim: aim)
    }
    return [
        Line(
            row: "cache hit of 4 KiB, \(tier)", server: "trestle", figures: Figures(rounds),
            finding: finding("median", median(rounds.map(\.p50)), maximum, aim: aim)),
        Line(
            row: "cache hit of 4 KiB, \(tier), p99", server: "trestle",
            finding: finding("p99", median(rounds.map(\.p99)), 2000)),
    ]
}

/// Measures a stored response of 4 KiB that the server confirms each time, beside the server's own 304.
func measureValidation(_ bench: Bench, _ daemon: Server, _ origin: Origin) throws -> [Line] {
    let url = origin.url("validated/4096")
    var (ours, bare): ([LoadFigures], [CurlFigures]) = ([], [])
    for _ in 0..<bench.rounds {
        bare.append(try bench.curl(url, inFlight: 1, field: #"If-None-Match: "1""#))
        ours.append(try bench.load(Calls.fetch(url), one, on: daemon, unpinned))
    }
    return [
        curlLine("GET that is answered with 304", bare),
        Line(
            row: "revalidation of 4 KiB", server: "trestle", figures: Figures(ours),
            finding: Finding(
                what: "a revalidation", value: median(ours, bare) { $0.p50 - $1.p50 }, unit: " µs more than the 304",
                digits: 0, bound: .atMost(550), aim: 400)),
    ]
}
