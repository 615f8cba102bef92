// What it costs to speak another dialect than the native one: the same task, called in each of them.

func measureDialects(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemonWithTasks()
    defer { daemon.stop() }
    var lines: [Line] = []
    for shape in [Shape(1, 64), Shape(50, 16)] {
        let rounds = try bench.alternate(
            rounds: max(5, bench.rounds),
            Calls.dialects.map { dialect in { try bench.load(dialect.call, shape, on: daemon) } })
        for (dialect, figures) in zip(Calls.dialects, rounds) {
            // What else happens on the machine only adds to a call's cost: the lowest figures are the nearest to it, and the
            // differences that are looked for are smaller than what is added.
            let ratio = lowestCPU(figures) / lowestCPU(rounds[0])
            let isNative = dialect.name == Calls.dialects[0].name
            lines.append(
                Line(
                    row: "\(dialect.name) \(shape.name)", server: "trestle", figures: Figures(figures),
                    finding: isNative
                        ? nil
                        : Finding(
                            what: "CPU per call in \(dialect.name), \(shape.name)", value: ratio, unit: " × native",
                            bound: .atMost(1.25))))
        }
    }
    return lines
}

private func lowestCPU(_ figures: [LoadFigures]) -> Double { figures.map(\.serverCPU).min() ?? .nan }
