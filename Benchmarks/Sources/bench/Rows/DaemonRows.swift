// The costs of the daemon apart from calls: idle connections, memory, the start.
import Glibc

func measureConnections(_ bench: Bench) throws -> [Line] {
    let wanted = Bench.idleConnections
    let shape = Shape(50, 1)
    var without: [LoadFigures] = []
    var with: [LoadFigures] = []
    if raiseDescriptorLimit(to: wanted + 1000) {
        for _ in 0..<bench.rounds {
            // A new daemon each time, because memory that was released once is not allocated again.
            let daemon = try bench.startDaemon()
            without.append(try bench.load(Calls.echo, shape, on: daemon))
            with.append(try bench.load(Calls.echo, shape, on: daemon, LoadSettings(idle: wanted)))
            daemon.stop()
        }
    } else {
        // The limits then count as exceeded, because the figures are unknown.
        printStatus("connections: not measured, this process may not have \(wanted + 1000) descriptors (ulimit -n)")
    }
    let memory = median(with, without) { ($0.anonymousKiB - $1.anonymousKiB) / Double(wanted) }
    let ratio = median(with, without) { $0.serverCPU / $1.serverCPU }
    return [
        Line(row: "echo \(shape.name) alone", server: "trestle", figures: Figures(without)),
        Line(
            row: "echo \(shape.name) beside 10,000 idle", server: "trestle", figures: Figures(with),
            finding: Finding(
                what: "CPU per call beside 10,000 idle connections", value: ratio, unit: " × alone", bound: .atMost(1.3)
            )
        ),
        Line(
            row: "10,000 idle connections", server: "trestle",
            finding: Finding(
                what: "anonymous memory of an idle connection", value: memory, unit: " KiB each", bound: .atMost(2))),
    ]
}

/// Raises the limit of descriptors, which child processes inherit.
private func raiseDescriptorLimit(to wanted: Int) -> Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
    if limit.rlim_cur >= rlim_t(wanted) { return true }
    limit.rlim_cur = rlim_t(wanted)
    limit.rlim_max = max(limit.rlim_max, limit.rlim_cur)
    return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
}

func measureIdle(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemon()
    defer { daemon.stop() }
    sleep(2)
    func line(_ name: String, _ words: String, _ maximum: Double) -> Line {
        Line(
            row: "idle daemon, \(words)", server: "trestle",
            finding: Finding(
                what: "\(words) memory of an idle daemon", value: daemon.memoryKiB(name) / 1024, unit: " MiB",
                bound: .atMost(maximum)))
    }
    return [line("RssAnon", "anonymous", 4), line("VmRSS", "resident", 24)]
}

func measureStart(_ bench: Bench) throws -> [Line] {
    var times: [Double] = []
    // The first start reads libraries from the disk, and creates the databases.
    for number in 0...10 {
        var (start, end) = (timespec(), timespec())
        clock_gettime(CLOCK_MONOTONIC, &start)
        let daemon = try bench.startDaemon(DaemonSettings(isPinned: false, state: "state-of-starts"))
        clock_gettime(CLOCK_MONOTONIC, &end)
        daemon.stop()
        let milliseconds = Double(end.tv_sec - start.tv_sec) * 1e3 + Double(end.tv_nsec - start.tv_nsec) / 1e6
        if number > 0 { times.append(milliseconds) }
    }
    return [
        Line(
            row: "start to first answer, warm", server: "trestle",
            finding: Finding(
                what: "start to first answer", value: median(times), unit: " ms", digits: 1, bound: .atMost(90),
                aim: 40))
    ]
}
