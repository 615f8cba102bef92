// The memory of Fetch's process: idle, beside that of the smallest plugin, and with 64 transfers.
import Glibc

/// The number of open transfers; the default maximum of a user.
private let heldTransfers = 64
/// The number of hosts: six connections to each are enough for all transfers.
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
    // Meanwhile the received bytes fill the buffers.
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
