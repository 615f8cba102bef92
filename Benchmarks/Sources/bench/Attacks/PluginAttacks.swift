// Attacks by a plugin process that floods the daemon: Benchmarks/Sources/flooder.

/// Adds a plugin process with the flooding tasks, and Echo in the daemon's own process.
private func addFlooder(_ bench: Bench, _ settings: inout DaemonSettings) throws {
    let folder = bench.place.sockets + "/flooder-\(bench.startedDaemons)"
    _ = try ChildProcess(["install", "-m", "700", "-d", folder]).finish()
    _ = try ChildProcess(["install", "-m", "600", bench.place.besideDaemon("libEchoPlugin.so"), folder]).finish()
    _ = try ChildProcess(["install", "-m", "700", bench.place.program("flooder"), folder + "/flooder"]).finish()
    let tasks = ["publish", "events", "array", "metrics", "log", "progress", "answers", "error", "decision"].map {
        "[[tasks]]\nname = \"flood.\($0)\"\nsummary = \"Floods.\"\n"
    }
    let interceptor = "[[interceptors]]\nname = \"flood.all\"\nsummary = \"Floods.\"\ntasks = [\"flood.decision\"]\n"
    try writeFile(
        folder + "/flood.plugin.toml",
        "command = [\"./flooder\"]\nversion = \"1\"\n\n" + (tasks + [interceptor]).joined(separator: "\n"))
    settings.pluginFolder = folder
    settings.configuration += "[plugins.echo]\nisolation = \"none\"\n"
}

/// - Parameters:
///   - bytes: The number of bytes that the process sends at each call.
///   - lines: The number of lines in which it sends them.
///   - subscribers: The number of the attacker's sessions that get the plugin's events.
private func flood(_ name: String, task: String, bytes: Int, lines: Int = 1, subscribers: Int = 0) -> Attack {
    Attack(name: name, prepareDaemon: addFlooder) { field in
        try field.subscribe(subscribers, to: "flood.x")
        var assault = Assault.message(
            #"{"task":"\#(task)","progress":true,"callbackId":1}"#, on: try field.connect(), of: field)
        assault.lineBytes = bytes / lines
        assault.bytes = bytes
        return assault
    }
}

let pluginAttacks = [
    flood("plugin: array of 15,000 plugin.publish", task: "flood.publish", bytes: 840_000),
    flood("plugin: 100 events to 900", task: "flood.events", bytes: 5_500, lines: 100, subscribers: 900),
    flood("plugin: array of 15,000 bridge.publish", task: "flood.array", bytes: 765_000),
    flood("plugin: metrics of 15,000 names", task: "flood.metrics", bytes: 825_000),
    flood("plugin: 15,000 lines of log", task: "flood.log", bytes: 1_000_000, lines: 15_000),
    flood("plugin: 15,000 times progress", task: "flood.progress", bytes: 480_000, lines: 15_000),
    flood("plugin: 15,000 answers to nothing", task: "flood.answers", bytes: 555_000, lines: 15_000),
    flood("plugin: an error of 1 MB", task: "flood.error", bytes: 1_000_000),
    flood("plugin: a decision of 100,000 members", task: "flood.decision", bytes: 600_000),
]
