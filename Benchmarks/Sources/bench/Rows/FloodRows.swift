// The cost of one user's calls while another user floods the daemon.
import Glibc

/// Two users that are neither root nor the daemon's user. The user database need not contain them.
private let calling = "64001"
private let flooding = "64002"

/// The rule for their calls.
private let rule = """
    [[rule]]
    allow = "call"
    names = "Echo"
    uid = [\(calling), \(flooding)]
    """

func measureFlood(_ bench: Bench) throws -> [Line] {
    guard geteuid() == 0 else {
        printStatus("flood: left out, because only root may connect as two users")
        return []
    }
    let policy = bench.place.sockets + "/flood.d"
    // The directory exists if the part is measured again.
    guard mkdir(policy, 0o755) == 0 || errno == EEXIST, chmod(bench.place.sockets, 0o711) == 0 else {
        throw Failure("\(policy): \(lastError())")
    }
    try writeFile(policy + "/flood.toml", rule)
    let daemon = try bench.startDaemon(
        DaemonSettings(topLevel: "socket_mode = \"0666\"\npolicy_dir = \"\(policy)\""))
    defer { daemon.stop() }
    let one = Shape(1, 1)
    var lines: [Line] = []
    for (shape, name) in [(Shape(200, 1), "one call at a time"), (Shape(200, 64), "64 calls at a time")] {
        let rounds = try bench.alternate(
            rounds: max(5, bench.rounds),
            [
                { try bench.load(Calls.echo, one, on: daemon, LoadSettings(arguments: ["--uid", calling])) },
                { try besideFlood(bench, daemon, shape, one) },
            ])
        lines.append(Line(row: "echo 1×1, quiet", server: "trestle", figures: Figures(rounds[0])))
        lines.append(
            Line(
                row: "echo 1×1, another user floods \(shape.name)", server: "trestle",
                figures: Figures(rounds[1]).withoutCPU,
                finding: Finding(
                    what: "p99 beside another user's 200 connections, \(name)",
                    value: median(rounds[1], rounds[0]) { $0.p99 / $1.p99 }, unit: " × quiet", bound: .atMost(3))))
    }
    return lines
}

private func besideFlood(_ bench: Bench, _ daemon: Server, _ shape: Shape, _ one: Shape) throws -> LoadFigures {
    // If both generators share a core, the measured one has priority.
    let settings = LoadSettings(
        core: bench.cores.third, isNice: bench.cores.third == nil, seconds: bench.seconds + 600,
        arguments: ["--uid", flooding])
    let flood = try bench.startLoad(Calls.echo, shape, on: daemon, settings)
    defer { flood.stop() }
    return try bench.load(Calls.echo, one, on: daemon, LoadSettings(arguments: ["--uid", calling]))
}
