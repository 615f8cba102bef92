// The memory of Fetch's process: idle, beside that of the smallest plugin, and with 64 transfers.
import Glibc

/// How many transfers are held; so many a user may have by default.
private let heldTransfers = 64
/// Enough hosts for them: there are six connections to each.
private let hosts = 11

func measureFetchMemory(_ bench: Bench) throws -> [Line] {
    let origin = try Origin(bench, addresses: hosts)
    defer { origin.stop() }
    let daemon = try bench.startFetchDaemon("[plugins.echo]\nisolation = \"process\"\n")
    defer { daemon.stop() }
    sleep(2)
    let least = try daemon.process(of: "libEchoPlugin.so").memoryKiB("RssAnon")
    let fetch = try daemon.process(of: fetchLibrary)
    let idle = fetch.memoryKiB("RssAnon")
    let holder = try ChildProcess([
        bench.place.program("fetcher"), daemon.socket, origin.url("held/1048576"), String(heldTransfers), "hold",
    ])
    defer { holder.stop() }
    guard holder.firstLine() == "held" else { throw Failure("\(heldTransfers) transfers cannot be held") }
    // What has come fills the buffers meanwhile.
    sleep(1)
    let held = fetch.memoryKiB("RssAnon")
    func line(_ row: String, _ kib: Double, than: String, atMost maximum: Double) -> Line {
        Line(
            row: row, server: "trestle",
            finding: Finding(
                what: "anonymous memory, \(row)", value: kib / 1024, unit: " MiB more than \(than)",
                bound: .atMost(maximum)))
    }
    return [
        line("Fetch's process, idle", idle - least, than: "Echo's", atMost: 3),
        line("with \(heldTransfers) transfers", held - idle, than: "idle", atMost: 17),
    ]
}
