// Records beside SQLite driven directly, on one file system. Daemon, generator and SQLite are not pinned to cores: the
// daemon works on two threads here, and uses more than the one core to which other rows pin it.

/// The number of records to read, in both.
private let recordCount = 20_000

func measurePersistence(_ bench: Bench) throws -> [Line] {
    let daemon = try bench.startDaemon(DaemonSettings(isPinned: false))
    defer { daemon.stop() }
    let unpinned = LoadSettings(isPinned: false)
    let fill = LoadSettings(calls: recordCount, isPinned: false, arguments: ["--first", "0"])
    _ = try bench.load(Calls.fill, Shape(4, 64), on: daemon, fill)
    return try creates(bench, daemon, unpinned) + loneCreates(bench, daemon, unpinned) + reads(bench, daemon)
        + readsBesideCreates(bench, daemon)
}

private func creates(_ bench: Bench, _ daemon: Server, _ settings: LoadSettings) throws -> [Line] {
    let shape = Shape(4, 64)
    var ratios: [Double] = []
    var direct: [SQLiteFigures] = []
    var ours: [LoadFigures] = []
    for _ in 0..<bench.rounds {
        direct.append(try bench.sqlite("create"))
        ours.append(try bench.load(Calls.create, shape, on: daemon, settings))
        ratios.append(ours[ours.count - 1].callsPerSecond / direct[direct.count - 1].perSecond)
    }
    return [
        sqliteLine("transaction of 100 creates", direct),
        Line(
            row: "create \(shape.name)", server: "trestle", figures: Figures(ours),
            finding: Finding(
                what: "creates, \(shape.name)", value: median(ratios), unit: " × SQLite", bound: .atLeast(0.6),
                aim: 0.8)),
    ]
}

private func loneCreates(_ bench: Bench, _ daemon: Server, _ settings: LoadSettings) throws -> [Line] {
    var ratios: [Double] = []
    var direct: [SQLiteFigures] = []
    var ours: [LoadFigures] = []
    for _ in 0..<bench.rounds {
        direct.append(try bench.sqlite("lone"))
        let echo = try bench.load(Calls.echo, Shape(1, 1), on: daemon, settings)
        ours.append(try bench.load(Calls.create, Shape(1, 1), on: daemon, settings))
        ratios.append(ours[ours.count - 1].p50 / (direct[direct.count - 1].p50 + echo.p50))
    }
    return [
        sqliteLine("transaction of 1 create", direct),
        Line(
            row: "create 1×1", server: "trestle", figures: Figures(ours),
            finding: Finding(
                what: "median of a lone create", value: median(ratios), unit: " × (SQLite + Echo)",
                bound: .atMost(2.8), aim: 1.3)),
    ]
}

private func reads(_ bench: Bench, _ daemon: Server) throws -> [Line] {
    let settings = LoadSettings(isPinned: false, arguments: ["--random", String(recordCount)])
    let shapes = [Shape(1, 64), Shape(4, 16)]
    var direct: [SQLiteFigures] = []
    var ours = shapes.map { _ in [LoadFigures]() }
    for _ in 0..<bench.rounds {
        direct.append(try bench.sqlite("read", rows: recordCount))
        for (index, shape) in shapes.enumerated() {
            ours[index].append(try bench.load(Calls.read, shape, on: daemon, settings))
        }
    }
    return [sqliteLine("read", direct)]
        + zip(shapes, ours).map { shape, figures in
            let ratio = median(figures, direct) { $0.callsPerSecond / $1.perSecond }
            return Line(
                row: "read \(shape.name)", server: "trestle", figures: Figures(figures),
                finding: Finding(
                    what: "reads by key, \(shape.name)", value: ratio, unit: " × SQLite", bound: .atLeast(0.5)))
        }
}

/// Measures reads by one generator while another one writes: reads must not wait for commits.
private func readsBesideCreates(_ bench: Bench, _ daemon: Server) throws -> [Line] {
    let shape = Shape(1, 1)
    let reading = LoadSettings(isPinned: false, arguments: ["--random", String(recordCount)])
    // Longer than the reads with their warm-up; it is ended with them.
    let writing = LoadSettings(isPinned: false, isNice: true, seconds: bench.seconds + 600)
    let rounds = try bench.alternate([
        { try bench.load(Calls.read, shape, on: daemon, reading) },
        {
            let writer = try bench.startLoad(Calls.create, Shape(4, 64), on: daemon, writing)
            defer { writer.stop() }
            return try bench.load(Calls.read, shape, on: daemon, reading)
        },
    ])
    let difference = median(rounds[1], rounds[0]) { $0.p99 - $1.p99 }
    return [
        Line(row: "read \(shape.name)", server: "trestle", figures: Figures(rounds[0])),
        Line(
            row: "read \(shape.name) during creates", server: "trestle", figures: Figures(rounds[1]).withoutCPU,
            finding: Finding(
                what: "p99 of reads during creates", value: difference, unit: " µs more at p99",
                digits: 0)),
    ]
}

// MARK: SQLite

/// The results of `sqlite-direct`.
struct SQLiteFigures {
    var perSecond, p50, p99: Double
}

private func sqliteLine(_ row: String, _ rounds: [SQLiteFigures]) -> Line {
    var figures = Figures()
    figures.callsPerSecond = median(rounds.map(\.perSecond))
    figures.p50 = median(rounds.map(\.p50))
    figures.p99 = median(rounds.map(\.p99))
    return Line(row: row, server: "SQLite", figures: figures)
}

extension Bench {
    /// Drives SQLite directly, on a database beside the daemon's.
    func sqlite(_ mode: String, rows: Int? = nil) throws -> SQLiteFigures {
        var command = [
            place.program("sqlite-direct"), mode, "--database", place.data + "/direct-\(mode).sqlite", "--seconds",
            String(seconds),
        ]
        if let rows { command += ["--rows", String(rows)] }
        let line = try ChildProcess(command).finish()
        let values = keyedNumbers(line)
        guard let perSecond = values["ops_per_second"], let p50 = values["p50_us"], let p99 = values["p99_us"] else {
            throw Failure("sqlite-direct printed an unknown line: \(line)")
        }
        return SQLiteFigures(perSecond: perSecond, p50: p50, p99: p99)
    }
}
