// The bytes of a file as a stream from one process to another, beside the pipe of a shell.
import Glibc

/// How many bytes each run moves.
private let fileBytes = 256 << 20

/// How the two sides use the stream: by a descriptor or by messages.
private struct StreamForm {
    var writer: String
    var reader: String
    var bound: Bound?

    var name: String { "\(writer) to \(reader)" }
}

private let forms = [
    StreamForm(writer: "pipe", reader: "pipe", bound: .atLeast(0.8)),
    StreamForm(writer: "pipe", reader: "messages", bound: .atLeast(0.25)),
    StreamForm(writer: "messages", reader: "pipe", bound: .atLeast(0.25)),
    StreamForm(writer: "messages", reader: "messages"),
]

/// What a run took: seconds by the clock, and of the daemon's CPU time.
private struct StreamFigures {
    var seconds: Double
    var serverCPU: Double
}

func measureStreams(_ bench: Bench) throws -> [Line] {
    let file = place(bench)
    try writeFile(file, String(repeating: "stream!\n", count: fileBytes / 8))
    defer { unlink(file) }
    let daemon = try bench.startDaemon(DaemonSettings(isPinned: false))
    defer { daemon.stop() }
    var cat: [Double] = []
    var figures = forms.map { _ in [StreamFigures]() }
    for _ in 0..<bench.rounds {
        cat.append(try secondsOfCat(file))
        for (index, form) in forms.enumerated() { figures[index].append(try run(form, file, bench, daemon)) }
    }
    return [Line(row: "256 MiB", server: "cat to cat", finding: rate("cat to cat", cat))]
        + zip(forms, figures).map { form, figures in line(form, figures, cat) }
}

private func place(_ bench: Bench) -> String { bench.place.sockets + "/streamed" }

private func run(_ form: StreamForm, _ file: String, _ bench: Bench, _ daemon: Server) throws -> StreamFigures {
    let before = daemon.cpuSeconds
    let program = try ChildProcess(
        [bench.place.program("streamer"), daemon.socket, file, form.writer, form.reader])
    guard let seconds = keyedNumbers(try program.finish())["seconds"] else { throw Failure("streamer says nothing") }
    return StreamFigures(seconds: seconds, serverCPU: daemon.cpuSeconds - before)
}

private func secondsOfCat(_ file: String) throws -> Double {
    let start = monotonicSeconds()
    _ = try ChildProcess(["sh", "-c", "cat '\(file)' | cat >/dev/null"]).finish()
    return monotonicSeconds() - start
}

private func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

private func rate(_ what: String, _ seconds: [Double]) -> Finding {
    Finding(what: what, value: Double(fileBytes >> 20) / median(seconds), unit: " MiB/s", digits: 0)
}

private func line(_ form: StreamForm, _ figures: [StreamFigures], _ cat: [Double]) -> Line {
    let seconds = median(figures.map(\.seconds))
    let cpu = median(figures.map { $0.serverCPU / $0.seconds })
    return Line(
        row: "256 MiB, \(form.name)", server: "trestle",
        finding: Finding(
            what: "a stream, \(form.name)", value: median(zip(cat, figures).map { $0 / $1.seconds }),
            unit: " × cat",
            note:
                ", \(text(Double(fileBytes >> 20) / seconds, digits: 0)) MiB/s, daemon \(text(cpu * 100, digits: 1)) % "
                + "of a core",
            bound: form.bound))
}
