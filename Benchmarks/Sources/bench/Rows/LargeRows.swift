// Messages of a megabyte: their cost, and their effect on other calls.

/// A payload in a file, and its name.
private struct Payload {
    var name: String
    var file: String
}

extension Bench {
    /// Creates a text, and an array of small objects: the first is quick to check, the second is not. Both leave room
    /// for the rest of a line of 1 MiB, which is the daemon's limit.
    fileprivate func makePayloads() throws -> [Payload] {
        let room = (1 << 20) - 256
        let text = place.sockets + "/text.json"
        try writeFile(text, "\"" + String(repeating: "x", count: room - 2) + "\"")
        var objects = "["
        var number = 0
        while objects.utf8.count < room - 128 {
            objects += number == 0 ? "" : ","
            objects += #"{"id":\#(number),"name":"item \#(number)","price":\#(number % 1000).5,"#
            objects += #""tags":["a","b"],"new":true}"#
            number += 1
        }
        let structured = place.sockets + "/objects.json"
        try writeFile(structured, objects + "]")
        return [Payload(name: "text", file: text), Payload(name: "objects", file: structured)]
    }
}

func measureLarge(_ bench: Bench) throws -> [Line] {
    let floor = try bench.startFloor()
    defer { floor.stop() }
    let daemon = try bench.startDaemon()
    defer { daemon.stop() }
    var lines: [Line] = []
    for payload in try bench.makePayloads() {
        let (echo, echoOfFloor) = Calls.large(payload.file)
        let rounds = try bench.alternate([
            { try bench.load(echoOfFloor, Shape(1, 1), on: floor) },
            { try bench.load(echo, Shape(1, 1), on: daemon) },
        ])
        let ratio = median(rounds[1], rounds[0]) { $0.perCall / $1.perCall }
        lines.append(Line(row: "1 MiB of \(payload.name) 1×1", server: "floor", figures: Figures(rounds[0])))
        lines.append(
            Line(
                row: "1 MiB of \(payload.name) 1×1", server: "trestle", figures: Figures(rounds[1]),
                finding: Finding(
                    what: "time of a message of 1 MiB of \(payload.name)", value: ratio, unit: " × floor",
                    bound: .atMost(3))))
        lines.append(try smallCalls(bench, daemon, beside: echo, payload.name))
    }
    return lines
}

private func smallCalls(_ bench: Bench, _ daemon: Server, beside large: CallTemplate, _ name: String) throws -> Line {
    // If two generators share a core, the one with the small calls has priority, so that the other does not affect the
    // figures.
    let streaming = LoadSettings(
        core: bench.cores.third, isNice: bench.cores.third == nil, seconds: bench.seconds + 600)
    let stream = try bench.startLoad(large, Shape(1, 1), on: daemon, streaming)
    defer { stream.stop() }
    let figures = try (0..<bench.rounds).map { _ in try bench.load(Calls.echo, Shape(1, 1), on: daemon) }
    return Line(
        row: "echo 1×1 beside 1 MiB of \(name)", server: "trestle", figures: Figures(figures).withoutCPU,
        finding: Finding(
            what: "p99 of a small call beside messages of 1 MiB of \(name)", value: median(figures.map(\.p99)) / 1000,
            unit: " ms at p99", bound: .atMost(2)))
}
