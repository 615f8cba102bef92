// The cost of a task beyond that of its call: types, and another client that does the work.

extension Bench {
    /// Starts a daemon with the benchmark's own plugin only.
    ///
    /// - Parameters:
    ///   - section: The settings of the plugin.
    ///   - isPinned: Whether the daemon is pinned to a core.
    ///   - hasEcho: Whether the plugin Echo is added, in the daemon's own process.
    func startDaemonWithTasks(
        _ section: String = #"isolation = "none""#, isPinned: Bool = true, hasEcho: Bool = false
    ) throws -> Server {
        let folder = place.sockets + "/plugins-\(startedDaemons)"
        // The daemon loads every library of a folder, so this one needs a folder of its own.
        _ = try ChildProcess(["install", "-m", "700", "-d", folder]).finish()
        let libraries =
            [place.program("libBenchmarkPlugin.so")] + (hasEcho ? [place.besideDaemon("libEchoPlugin.so")] : [])
        _ = try ChildProcess(["install", "-m", "600"] + libraries + [folder]).finish()
        var settings = DaemonSettings(pluginFolder: folder, isPinned: isPinned, probe: Calls.probeOfPlugin)
        settings.configuration = "[plugins.bench]\n\(section)\n"
        if hasEcho { settings.configuration += "[plugins.echo]\nisolation = \"none\"\n" }
        return try startDaemon(settings)
    }
}

func measureTyped(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemonWithTasks()
    defer { daemon.stop() }
    let shape = Shape(50, 16)
    let rounds = try bench.alternateLoads(
        [Calls.constant, Calls.typed].map { Load(call: $0, server: daemon) }, shape)
    let difference = median(rounds[1], rounds[0]) { $0.serverCPU - $1.serverCPU }
    return [
        Line(row: "raw task \(shape.name)", server: "trestle", figures: Figures(rounds[0])),
        Line(
            row: "typed task \(shape.name)", server: "trestle", figures: Figures(rounds[1]),
            finding: Finding(
                what: "CPU per call of a typed task, \(shape.name)", value: difference, unit: " µs above raw",
                bound: .atMost(4.5), aim: 2)),
    ]
}

func measureForwarding(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemon()
    defer { daemon.stop() }
    let provider = try bench.startProvider(for: daemon)
    defer { provider.stop() }
    var lines: [Line] = []
    for shape in [Shape(1, 64), Shape(50, 16)] {
        let rounds = try bench.alternateLoads(
            [Calls.echo, Calls.forwarded].map { Load(call: $0, server: daemon) }, shape)
        let ratio = median(rounds[1], rounds[0]) { $0.serverCPU / $1.serverCPU }
        lines.append(Line(row: "in process \(shape.name)", server: "trestle", figures: Figures(rounds[0])))
        lines.append(
            Line(
                row: "forwarded \(shape.name)", server: "trestle", figures: Figures(rounds[1]),
                finding: Finding(
                    what: "CPU per forwarded call, \(shape.name)", value: ratio, unit: " × in process",
                    bound: .atMost(2.5), aim: 2)))
    }
    return lines
}
