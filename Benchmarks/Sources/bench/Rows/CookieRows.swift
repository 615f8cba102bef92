// Reading and setting cookies of a URL, in a profile with the maximum of cookies.

/// The number of sites that the rows use, and of cookies for each. The load generator begins calls for 328 sites: eight
/// are in flight at its end, and it may not wait for their answers.
private let (sites, cookiesOfSite) = (320, 10)

func measureCookies(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemon(DaemonSettings(isPinned: false))
    defer { daemon.stop() }
    for number in 0..<cookiesOfSite {
        let fill = LoadSettings(calls: sites, isPinned: false, arguments: ["--first", "0"])
        _ = try bench.load(set(#"c\#(number)=0123456789abcdef"#), Shape(1, 8), on: daemon, fill)
    }
    return try measureHeaders(bench, daemon) + measureSets(bench, daemon)
}

/// Returns a call of `cookies.set` for a site with a number.
private func set(_ pair: String) -> CallTemplate {
    Calls.call(
        "cookies.set", options: #"{"url":"https://site%V.example/","line":"\#(pair); Max-Age=100000"}"#,
        result: #"{"version":%*}"#)
}

private func measureHeaders(_ bench: Bench, _ daemon: Server) throws -> [Line] {
    let process = try daemon.process(of: "libCookiesPlugin.so")
    let calls = max(1000, Int(10_000 * bench.seconds))
    let header = Calls.call(
        "cookies.header", options: #"{"url":"https://site%V.example/"}"#, result: #"{"header":"c0=%*"#)
    let settings = LoadSettings(calls: calls, isPinned: false, arguments: ["--random", String(sites)])
    var (loads, cpu): ([LoadFigures], [Double]) = ([], [])
    for _ in 0..<bench.rounds {
        let before = process.cpuSeconds
        loads.append(try bench.load(header, Shape(1, 16), on: daemon, settings))
        cpu.append((process.cpuSeconds - before) * 1e6 / Double(calls))
    }
    return [
        Line(
            row: "cookies.header among 3,300 1×16", server: "trestle", figures: Figures(loads),
            finding: Finding(
                what: "CPU of cookies.header in the plugin", value: median(cpu), unit: " µs", digits: 1,
                bound: .atMost(50)))
    ]
}

private func measureSets(_ bench: Bench, _ daemon: Server) throws -> [Line] {
    var (ours, direct): ([LoadFigures], [SQLiteFigures]) = ([], [])
    let settings = LoadSettings(isPinned: false, arguments: ["--random", String(sites)])
    for _ in 0..<bench.rounds {
        direct.append(try bench.sqlite("lone"))
        ours.append(try bench.load(set("c0=%I"), Shape(1, 1), on: daemon, settings))
    }
    return [
        Line(
            row: "cookies.set 1×1", server: "trestle", figures: Figures(ours),
            finding: Finding(
                what: "median of cookies.set", value: median(ours, direct) { $0.p50 / $1.p50 },
                unit: " × a transaction of SQLite"))
    ]
}
