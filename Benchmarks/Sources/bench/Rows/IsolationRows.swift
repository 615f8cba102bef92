// The cost of a plugin in a process of its own, and the effect of a crashing one on other calls.
import Glibc

/// Two processes work on a call of an isolated plugin. Each needs a core, and so does the generator.
private let isolated = #"isolation = "process""#
private let unpinned = LoadSettings(isPinned: false)

func measureIsolation(_ bench: Bench) throws -> [Line] {
    let inside = try bench.startDaemonWithTasks(isPinned: false)
    defer { inside.stop() }
    let outside = try bench.startDaemonWithTasks(isolated, isPinned: false)
    defer { outside.stop() }
    var lines: [Line] = []
    for shape in [Shape(1, 64), Shape(50, 16)] {
        let rounds = try bench.alternateLoads(
            [inside, outside].map { Load(call: Calls.constant, server: $0) }, shape, isPinned: false)
        lines.append(Line(row: "in the daemon \(shape.name)", server: "trestle", figures: Figures(rounds[0])))
        lines.append(
            Line(
                row: "isolated \(shape.name)", server: "trestle", figures: Figures(rounds[1]),
                finding: Finding(
                    what: "time per call of an isolated plugin, \(shape.name)",
                    value: median(rounds[1], rounds[0]) { $0.perCall / $1.perCall }, unit: " × in the daemon",
                    bound: .atMost(4), aim: 3)))
    }
    return lines
}

/// Measures the lease of a process from a pool by calls one after the other. In the cold case each call uses its
/// process up, so that the next one waits for a new process.
func measurePool(_ bench: Bench) throws -> [Line] {
    let warm = try bench.startDaemonWithTasks(isolated + "\npool = { min = 1, max = 1 }", isPinned: false)
    defer { warm.stop() }
    let cold = try bench.startDaemonWithTasks(isolated + "\npool = { max = 1, uses = 1 }", isPinned: false)
    defer { cold.stop() }
    let one = Shape(1, 1)
    let rounds = try bench.alternate([
        { try bench.load(Calls.constant, one, on: warm, unpinned) },
        { try bench.load(Calls.constant, one, on: cold, LoadSettings(calls: 30, isPinned: false)) },
    ])
    return [
        Line(row: "cold start", server: "trestle", figures: Figures(rounds[1])),
        Line(
            row: "warm lease", server: "trestle", figures: Figures(rounds[0]),
            finding: Finding(
                what: "a warm lease of a pool's process", value: median(rounds[0], rounds[1]) { $0.p50 / $1.p50 },
                unit: " × a cold start", digits: 4, bound: .atMost(0.05))),
    ]
}

/// Measures Echo, in the daemon's own process, while another plugin's process crashes whenever it was started. The
/// plugin is loaded again whenever the daemon has given it up.
func measureNeighbour(_ bench: Bench) throws -> [Line] {
    let server = try bench.startDaemonWithTasks(isolated, isPinned: false, hasEcho: true)
    defer { server.stop() }
    let shape = Shape(8, 4)
    let rounds = try bench.alternate([
        { try bench.load(Calls.echo, shape, on: server, unpinned) },
        {
            let crashes = try ChildProcess([bench.place.program("crasher"), server.socket, "bench.crash", "bench"])
            defer { crashes.stop() }
            guard crashes.firstLine() == "crashed" else { throw Failure("the neighbour does not crash") }
            return try bench.load(Calls.echo, shape, on: server, unpinned)
        },
    ])
    return [
        Line(row: "Echo 8×4", server: "trestle", figures: Figures(rounds[0])),
        Line(
            row: "Echo 8×4, a neighbour crashes", server: "trestle", figures: Figures(rounds[1]),
            finding: Finding(
                what: "p99 beside a neighbour in a crash loop", value: median(rounds[1], rounds[0]) { $0.p99 / $1.p99 },
                unit: " × alone", bound: .atMost(2))),
    ]
}
