// The waits of one user during attacks of another: docs/reliability.md contains the promises.

/// All attacks, in the order of the table.
let attacks = messageAttacks + eventAttacks + sessionAttacks + pluginAttacks + persistenceAttacks

/// Measures an attack, if it is one of the selected ones.
func measureAttack(_ attack: Attack, _ bench: Bench) throws -> [Line] {
    guard bench.attacks.isEmpty || bench.attacks.contains(attack.name) else { return [] }
    let figures = try bench.cores.keepingOffServer { try bench.measure(attack) }
    let lines = lines(of: figures)
    for line in lines { printStatus("\(line.row): \(line.finding?.valueText ?? "")") }
    return lines
}

private func lines(of attack: AttackFigures) -> [Line] {
    var figures = Figures()
    figures.serverCPU = attack.loopCPU.isEmpty ? nil : median(attack.loopCPU)
    figures.peakMiB = attack.peakMiB
    var lines = [
        Line(row: attack.name, server: "trestle", figures: figures, finding: repeated(attack)),
        Line(
            row: attack.name + ", longest turn", server: "trestle",
            finding: Finding(
                what: "CPU time of one turn: \(attack.name)", value: attack.longestTurn ?? .nan, unit: " ms of CPU",
                bound: .atMost(10))),
    ]
    if !attack.endless.isEmpty {
        figures = Figures()
        figures.p50 = median(attack.endless.map(\.p50)) * 1000
        figures.p99 = median(attack.endless.map(\.p99)) * 1000
        lines.append(
            Line(row: attack.name + ", endless", server: "trestle", figures: figures, finding: beside(attack)))
    }
    return lines
}

/// If there was no time for all repetitions, the result is extrapolated from those that were made.
private func repeated(_ attack: AttackFigures) -> Finding {
    let maximum = 50.0
    let share = attack.waits.isEmpty ? 0 : Double(attack.withinLimit) / Double(attack.waits.count)
    let longest = attack.waits.max().map { text($0, digits: 1) } ?? "?"
    let limit = text(attack.limitMilliseconds, digits: 0)
    return Finding(
        what: "waits of at most \(limit) ms: \(attack.name)", value: (share * maximum).rounded(.down),
        unit: " of 50 ≤ \(limit) ms", digits: 0,
        note: " (\(attack.waits.count) made); the longest \(attack.isOverdue ? "more than " : "")\(longest) ms, quiet "
            + "\(text(attack.quietLongest, digits: 1)) ms",
        bound: .atLeast(45))
}

/// Returns the finding of an attack without a pause. A harmless sender gives the store no work, so the limit of a
/// victim that calls the store is that of a single wait.
private func beside(_ attack: AttackFigures) -> Finding {
    let what = "p99 beside: \(attack.name)"
    let (p99, harmless) = (median(attack.endless.map(\.p99)), median(attack.endless.map(\.harmlessP99)))
    let ratio = median(attack.endless.map { $0.p99 / $0.harmlessP99 })
    if attack.limitMilliseconds > Victim.Call.echo.limitMilliseconds {
        return Finding(
            what: what, value: p99, unit: " ms at p99", note: ", \(text(ratio, digits: 2)) × harmless",
            bound: .atMost(attack.limitMilliseconds))
    }
    return Finding(
        what: what, value: ratio, unit: " × harmless", note: ", whose p99 is \(text(harmless, digits: 2)) ms",
        bound: .atMost(3))
}
