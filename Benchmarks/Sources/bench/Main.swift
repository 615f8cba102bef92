import ArgumentParser
import Glibc

@main
struct Main: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures what Trestle costs, beside a C program that only echoes bytes, Redis and SQLite.",
        discussion: """
            Prints one Markdown table on standard output; its progress goes to standard error. Every figure is the \
            median of its rounds. docs/performance.md describes each row. As root it keeps idle processors awake in \
            most rows: what waking them costs depends on the machine, not on the measured program.

            Examples:
              bench                              everything, in about twenty minutes
              bench --only echo --only latency   two rows
              bench --check --rounds 5           exit status 1 if a limit is not met
              bench --seconds 0.3 --rounds 1     a quick look

            Rows:
            \(rows.map { "  \($0.name.padded(to: 13)) \($0.summary)" }.joined(separator: "\n"))
            """)

    @Option(help: "How often each measurement is made, alternating with what it is compared with.")
    var rounds = 3

    @Option(help: "How long the load generator measures each time, in seconds.")
    var seconds = 1.0

    @Option(help: ArgumentHelp("Only this row; may be given several times.", valueName: "row"))
    var only: [String] = []

    @Option(help: ArgumentHelp("Write machine and table to a file as well.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Of the row attacks only this one; may be given several times.", valueName: "name"))
    var attack: [String] = []

    @Flag(help: "Compare with the limits. Rows past one are measured again while the host takes processor time.")
    var check = false

    @Flag(help: "Schedule daemons and their callers before everything else, as root: for a busy machine.")
    var first = false

    @Option(help: ArgumentHelp("The daemon's executable, of a release build.", valueName: "file"))
    var daemon = ".build/release/trestled"

    /// The maximum of measurements of a part of a row.
    private static let attempts = 3

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds is at least 1.") }
        guard seconds > 0, seconds <= 600 else { throw ValidationError("--seconds is more than 0, at most 600.") }
        for name in attack where !attacks.contains(where: { $0.name == name }) {
            throw ValidationError("There is no attack \(name): \(attacks.map(\.name).joined(separator: "; ")).")
        }
        for name in only where !rows.contains(where: { $0.name == name }) {
            throw ValidationError("There is no row \(name): \(rows.map(\.name).joined(separator: ", ")).")
        }
    }

    func run() throws {
        Interruption.prepare()
        let cores = Cores.find()
        if cores.server == nil { printStatus("nothing is pinned to a core: there is only one, or taskset is missing") }
        let place = try Place(daemon: daemon)
        defer { place.remove() }
        let head = Machine(cores: cores, place: place).text
        let bench = Bench(
            place: place, cores: cores, rounds: rounds, seconds: seconds, comesFirst: first, attacks: attack)
        let lines = try measure(bench)
        let table = head + "\n" + MarkdownTable.render(lines) + "\n"
        print(table, terminator: "")
        if let output { try writeFile(output, table) }
        guard check else { return }
        let (text, isPassed) = Check.report(lines)
        print("\n" + text)
        if !isPassed { throw ExitCode.failure }
    }

    private func measure(_ bench: Bench) throws -> [Line] {
        var lines: [Line] = []
        for row in rows where only.isEmpty || only.contains(row.name) {
            printStatus("\(row.name): \(row.summary)")
            try withExtendedLifetime(row.mayProcessorsSleep ? nil : WakefulProcessors()) {
                for part in row.parts { lines += try measure(part, bench) }
            }
        }
        let longTurns = Finding(
            what: "turns of a daemon's loop of more than 20 ms of CPU time", value: bench.longTurns, unit: " turns",
            digits: 0, bound: .atMost(0))
        return lines + [Line(row: "long turns, all rows", server: "trestle", finding: longTurns)]
    }

    /// Measures a part of a row. With `--check`, a part that misses a limit while the host took processor time is
    /// measured again.
    private func measure(_ part: Row.Part, _ bench: Bench) throws -> [Line] {
        let longTurnsBefore = bench.longTurns
        let result = try leastDisturbed(attempts: check ? Self.attempts : 1) {
            bench.longTurns = 0
            return (lines: try part(bench), longTurns: bench.longTurns)
        } accept: { result in
            let isAccepted = Check.report(result.lines).isPassed && result.longTurns == 0
            if !isAccepted {
                printStatus("a limit does not hold; the part is measured again if the host took processor time")
            }
            return isAccepted
        }
        bench.longTurns = longTurnsBefore + result.longTurns
        return result.lines
    }
}

/// Prints a progress message on standard error.
func printStatus(_ text: String) {
    let bytes = Array("bench: \(text)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

extension String {
    func padded(to length: Int) -> String { self + String(repeating: " ", count: max(0, length - count)) }
}
