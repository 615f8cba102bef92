// The waits of another user's calls beside streams, and beside shell pipes that move as many bytes as possible.
import Glibc

/// The number of streams, or pipes.
private let neighbours = 4
/// Short windows, alternating with those beside the shell: other load on the machine affects both.
private let windowsPerRound = 6
private let windowSeconds = 0.5
/// The maximum of measurements of a window: a hundredth of its time decides about the 99th percentile.
private let windowAttempts = 3

func measureStreamNeighbours(_ bench: Bench) throws -> [Line] {
    guard AttackField.isRoot else {
        printStatus("streams: calls beside them are left out, because only root may connect as two users")
        return []
    }
    // The daemon competes with the neighbours: with a priority of its own it would show nothing beside `cat`.
    let settings = DaemonSettings(topLevel: try bench.attackRules(), isPinned: false, comesFirst: false)
    let field = try AttackField(bench, settings)
    defer { field.stop() }
    try field.startVictim(.echo, isRealTime: true)
    let shell = ["sh", "-c", "cat /dev/zero | cat >/dev/null"]
    let forms = [("pipe", "messages"), ("messages", "pipe"), ("messages", "messages")]
    var besideCat: [Neighbourhood] = []
    var besideStreams = forms.map { _ in [Neighbourhood]() }
    for _ in 0..<(bench.rounds * windowsPerRound) {
        besideCat.append(try leastDisturbed(attempts: windowAttempts) { try measure(beside: shell, field) })
        for (index, form) in forms.enumerated() {
            let stream = [bench.place.program("streamer"), field.server.socket, "/dev/zero", form.0, form.1]
            besideStreams[index].append(
                try leastDisturbed(attempts: windowAttempts) { try measure(beside: stream, field) })
        }
    }
    return [line("cat to cat", "shell", besideCat, nil)]
        + zip(forms, besideStreams).map { line("\($0.0) to \($0.1)", "trestle", $1, besideCat) }
}

/// The figures of one window beside streams or pipes.
private struct Neighbourhood {
    /// The waits of another user's Echo calls, one each 2 ms, in milliseconds.
    var waits: [Double]
    /// The CPU time of the daemon's loop, as a share of a core.
    var load: Double
}

private func measure(beside command: [String], _ field: AttackField) throws -> Neighbourhood {
    // Ends all processes of the command, also those of its pipe.
    let limited = ["timeout", "--signal=KILL", String(windowSeconds + 1)] + command
    let processes = try (0..<neighbours).map { _ in try ChildProcess(limited) }
    try field.wait(seconds: 0.5)
    let (start, loopStart) = (monotonicNanoseconds(), field.loopNanoseconds)
    try field.wait(seconds: windowSeconds)
    let (end, loopEnd) = (monotonicNanoseconds(), field.loopNanoseconds)
    for process in processes { _ = process.wait() }
    guard let victim = field.victim, !victim.hasEnded else { throw Failure("the other user cannot call") }
    return Neighbourhood(
        waits: victim.waits(from: start, to: end), load: Double(loopEnd - loopStart) / Double(end - start))
}

private func line(_ name: String, _ server: String, _ seen: [Neighbourhood], _ peer: [Neighbourhood]?) -> Line {
    let row = "echo of another user beside \(neighbours) × \(name)"
    let milliseconds = p99(of: seen)
    guard let peer else {
        return Line(row: row, server: server, finding: Finding(what: row, value: milliseconds, unit: " ms at p99"))
    }
    let load = text(median(seen.map(\.load)) * 100, digits: 0)
    return Line(
        row: row, server: server,
        finding: Finding(
            what: row, value: milliseconds / p99(of: peer), unit: " × beside cat",
            note: ", \(text(milliseconds, digits: 2)) ms at p99, the loop at \(load) % of a core", bound: .atMost(2)))
}

/// Returns the 99th percentile of the calls of all windows.
private func p99(of windows: [Neighbourhood]) -> Double { Victim.quantile(0.99, of: windows.flatMap(\.waits)) }
