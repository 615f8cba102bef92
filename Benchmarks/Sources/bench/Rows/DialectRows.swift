// The cost of the other dialects compared with the native one: the same task, called in each of them.

func measureDialects(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemonWithTasks()
    defer { daemon.stop() }
    var lines: [Line] = []
    for shape in [Shape(1, 64), Shape(50, 16)] {
        let rounds = try bench.alternateLoads(
            Calls.dialects.map { dialect in Load(call: dialect.call, server: daemon) }, shape)
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
