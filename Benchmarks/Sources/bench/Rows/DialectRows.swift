// The cost of the other dialects compared with the native one: the same task, called in each of them.

private let parts = 5

func measureDialects(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemonWithTasks()
    defer { daemon.stop() }
    var lines: [Line] = []
    for shape in [Shape(1, 64), Shape(50, 16)] {
        // Many short rounds instead of few long ones: the speed of a shared machine changes within seconds, and the
        // differences are about a tenth of a microsecond.
        let settings = LoadSettings(seconds: bench.seconds / Double(parts))
        let rounds = try bench.alternate(
            rounds: bench.rounds * parts,
            Calls.dialects.map { dialect in { try bench.load(dialect.call, shape, on: daemon, settings) } })
        for (dialect, figures) in zip(Calls.dialects, rounds) {
            let ratio = median(figures, rounds[0]) { $0.serverCPU / $1.serverCPU }
            let isNative = dialect.name == Calls.dialects[0].name
            lines.append(
                Line(
                    row: "\(dialect.name) \(shape.name)", server: "trestle", figures: Figures(figures),
                    finding: isNative
                        ? nil
                        : Finding(
                            what: "CPU per call in \(dialect.name), \(shape.name)", value: ratio, unit: " × native",
                            bound: .atMost(3))))
        }
    }
    return lines
}
