// The bytes of a file as a stream from one process to another, beside a shell pipe.
import Glibc

/// The number of bytes that each run moves.
private let fileBytes = 256 << 20

/// The way in which the two sides use the stream.
private struct StreamForm {
    /// The writer: by a descriptor ("pipe") or by messages.
    var writer: String
    /// The reader in the same form, or the program that reads.
    var reader: [String]
    var name: String
    var unit: Unit
    var bound: Bound?

    enum Unit { case ofCat, megabytes }

    /// Two programs in C.
    static func plain(_ writer: String, _ reader: String, _ bound: Bound? = nil) -> StreamForm {
        StreamForm(
            writer: writer, reader: [reader], name: "\(writer) to \(reader)", unit: .ofCat, bound: bound)
    }

    /// A program that uses a library, with its start.
    static func library(_ name: String, _ reader: [String], atLeast megabytes: Double) -> StreamForm {
        StreamForm(
            writer: "pipe", reader: reader, name: "pipe to \(name)", unit: .megabytes, bound: .atLeast(megabytes))
    }
}

extension Bench {
    fileprivate var streamForms: [StreamForm] {
        let readers = "\(#filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 })/Readers"
        let plain: [StreamForm] = [
            .plain("pipe", "pipe", .atLeast(0.8)), .plain("pipe", "messages", .atLeast(0.25)),
            .plain("messages", "pipe", .atLeast(0.25)), .plain("messages", "messages"),
            .library("BridgeClient", [place.program("reader")], atLeast: 200),
        ]
        let others: [StreamForm] = [
            .library("Python", ["python3", readers + "/read.py"], atLeast: 100),
            .library("Node", ["node", readers + "/read.mjs"], atLeast: 100),
        ]
        return plain + others.filter { Place.find($0.reader[0]) != nil }
    }
}

/// The duration of a run: seconds by the clock, and of the daemon's CPU time.
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
    let forms = bench.streamForms
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
        [bench.place.program("streamer"), daemon.socket, file, form.writer] + form.reader)
    guard let seconds = keyedNumbers(try program.finish())["seconds"] else {
        throw Failure("streamer printed no figures")
    }
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
    let cpu = ", daemon \(text(median(figures.map { $0.serverCPU / $0.seconds }) * 100, digits: 1)) % of a core"
    let (what, ofCat) = ("a stream, \(form.name)", median(zip(cat, figures).map { $0 / $1.seconds }))
    let finding =
        switch form.unit {
        case .ofCat:
            Finding(
                what: what, value: ofCat, unit: " × cat",
                note: ", \(text(Double(fileBytes >> 20) / seconds, digits: 0)) MiB/s\(cpu)", bound: form.bound)
        case .megabytes:
            Finding(
                what: what, value: Double(fileBytes) / 1e6 / seconds, unit: " MB/s", digits: 0,
                note: ", \(text(ofCat, digits: 2)) × cat\(cpu)", bound: form.bound)
        }
    return Line(row: "256 MiB, \(form.name)", server: "trestle", finding: finding)
}
