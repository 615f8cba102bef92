// HTTP requests by the plugin Fetch, beside bare libcurl, which fetches the same URLs alternately.
import Glibc

/// Daemon, plugins, server and generator share all cores.
private let unpinned = LoadSettings(isPinned: false)
private let cookiesLibrary = "libCookiesPlugin.so"
let fetchLibrary = "libFetchPlugin.so"

/// The measurements of the row. Each has a daemon and an HTTP server of its own.
let fetchParts: [Row.Part] = [
    { try $0.withFetch(measureSmallFetches) }, { try $0.withFetch(measureBodies) },
    { try $0.withFetch(measureCacheHits) }, { try $0.withFetch(measureValidation) }, measureFetchMemory,
]

extension Bench {
    fileprivate func withFetch(_ measure: (Bench, Server, Origin) throws -> [Line]) throws -> [Line] {
        let origin = try Origin(self)
        defer { origin.stop() }
        let daemon = try startFetchDaemon()
        defer { daemon.stop() }
        return try measure(self, daemon, origin)
    }
}

/// The results of a run of calls, with the CPU time of daemon and plugins for each call.
private struct FetchFigures {
    var load: LoadFigures
    var cpu: Double
}

private func measureSmallFetches(_ bench: Bench, _ daemon: Server, _ origin: Origin) throws -> [Line] {
    let url = origin.url("plain/150")
    var (ours, bare): ([FetchFigures], [CurlFigures]) = ([], [])
    for _ in 0..<bench.rounds {
        bare.append(try bench.curl(url, inFlight: 16))
        ours.append(try smallFetches(bench, daemon, url))
    }
    let cpu = median(ours.map(\.cpu))
    var figures = Figures(ours.map(\.load))
    figures.serverCPU = cpu
    return [
        curlLine("GET of 150 bytes, 16 in flight", bare),
        Line(
            row: "http.fetch of 150 bytes 1×16", server: "trestle", figures: figures,
            finding: Finding(
                what: "small fetches, 16 in flight",
                value: median(ours, bare) { $0.load.callsPerSecond / $1.callsPerSecond }, unit: " × libcurl",
                bound: .atLeast(0.15), aim: 0.4)),
        Line(
            row: "daemon, Fetch and Cookies", server: "trestle",
            finding: Finding(
                what: "CPU of a small fetch, all processes", value: median(ours, bare) { $0.cpu / $1.cpu },
                unit: " × libcurl", digits: 1, note: ", \(text(cpu, digits: 1)) µs", bound: .atMost(9))),
    ]
}

private func smallFetches(_ bench: Bench, _ daemon: Server, _ url: String) throws -> FetchFigures {
    let calls = max(1000, Int(4000 * bench.seconds))
    let processes = [
        RunningProcess(pid: daemon.pid), try daemon.process(of: fetchLibrary), try daemon.process(of: cookiesLibrary),
    ]
    let call = Calls.fetch(url, #","cache":"no-store""#)
    // The measurement begins with open connections.
    _ = try bench.load(call, Shape(1, 16), on: daemon, LoadSettings(calls: 500, isPinned: false))
    let before = processes.map(\.cpuSeconds).reduce(0, +)
    let load = try bench.load(call, Shape(1, 16), on: daemon, LoadSettings(calls: calls, isPinned: false))
    let cpu = processes.map(\.cpuSeconds).reduce(0, +) - before
    return FetchFigures(load: load, cpu: cpu * 1e6 / Double(calls))
}

func curlLine(_ row: String, _ rounds: [CurlFigures]) -> Line {
    var figures = Figures()
    figures.callsPerSecond = median(rounds.map(\.callsPerSecond))
    figures.p50 = median(rounds.map(\.p50))
    figures.serverCPU = median(rounds.map(\.cpu))
    return Line(row: row, server: "libcurl", figures: figures)
}

// MARK: Bodies

private let bodyBytes = 1 << 20

private func measureBodies(_ bench: Bench, _ daemon: Server, _ origin: Origin) throws -> [Line] {
    let url = origin.url("plain/\(bodyBytes)")
    var (bare, pipe, messages): ([CurlFigures], [Double], [Double]) = ([], [], [])
    // Short measurements in place of long ones, as in `alternateLoads`.
    let seconds = bench.seconds / Double(Bench.shortRuns)
    for _ in 0..<bench.rounds * Bench.shortRuns {
        bare.append(try bench.curl(url, inFlight: 1, seconds: seconds))
        pipe.append(try megabytesPerSecond(bench, daemon, url, "pipe", seconds))
        messages.append(try megabytesPerSecond(bench, daemon, url, "messages", seconds))
    }
    let note = ", \(text(median(pipe), digits: 0)) MB/s"
    let reference = Finding(
        what: "bodies of 1 MiB by libcurl", value: median(bare.map(\.megabytesPerSecond)), unit: " MB/s", digits: 0)
    return [
        Line(row: "GET of 1 MiB", server: "libcurl", finding: reference),
        Line(
            row: "http.fetch of 1 MiB, by descriptor", server: "trestle",
            finding: Finding(
                what: "bodies of 1 MiB by descriptor", value: median(pipe, bare) { $0 / $1.megabytesPerSecond },
                unit: " × libcurl", note: note, bound: .atLeast(0.15), aim: 0.6)),
        Line(
            row: "http.fetch of 1 MiB, by messages", server: "trestle",
            finding: Finding(
                what: "bodies of 1 MiB by messages", value: median(messages), unit: " MB/s", digits: 0,
                bound: .atLeast(175), aim: 200)),
    ]
}

private func megabytesPerSecond(
    _ bench: Bench, _ daemon: Server, _ url: String, _ form: String, _ seconds: Double
) throws -> Double {
    let count = max(20, Int(200 * seconds))
    let command = bench.ahead() + [bench.place.program("fetcher"), daemon.socket, url, String(count), form]
    guard let elapsed = keyedNumbers(try ChildProcess(command).finish())["seconds"] else {
        throw Failure("fetcher printed no figures")
    }
    return Double(count * bodyBytes) / 1e6 / elapsed
}
