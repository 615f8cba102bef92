/// The results of one run of the load generator.
struct LoadFigures {
    let callsPerSecond, p50, p99, p999: Double
    /// The server's CPU time for each call, in microseconds.
    let serverCPU: Double
    let peakKiB, anonymousKiB: Double

    /// Parses the generator's line of KEY=VALUE pairs.
    init(_ line: String) throws {
        let values = keyedNumbers(line)
        func value(_ key: String) throws -> Double {
            guard let value = values[key] else { throw Failure("the load generator does not report \(key): \(line)") }
            return value
        }
        callsPerSecond = try value("calls_per_second")
        p50 = try value("p50_us")
        p99 = try value("p99_us")
        p999 = try value("p999_us")
        serverCPU = try value("server_cpu_us")
        peakKiB = try value("server_peak_kib")
        anonymousKiB = try value("server_anonymous_kib")
    }

    /// The time from one answer to the next, in microseconds.
    var perCall: Double { 1e6 / callsPerSecond }
}

/// Returns the numbers of a line of KEY=VALUE pairs.
func keyedNumbers(_ line: String) -> [String: Double] {
    var values: [String: Double] = [:]
    for pair in line.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
        let parts = pair.split(separator: "=", maxSplits: 1)
        if parts.count == 2, let value = Double(parts[1]) { values[String(parts[0])] = value }
    }
    return values
}

/// The number of connections, and of calls in flight on each.
struct Shape {
    var connections: Int
    var inFlight: Int

    init(_ connections: Int, _ inFlight: Int) {
        self.connections = connections
        self.inFlight = inFlight
    }

    var name: String { "\(connections)×\(inFlight)" }
}

/// The settings of the load generator.
struct LoadSettings {
    /// The number of calls to measure, without warming up; `nil` for the duration on the command line.
    var calls: Int?
    /// The number of idle connections.
    var idle = 0
    /// Whether it is pinned to a core.
    var isPinned = true
    /// A core other than the generator's own; `nil` for the generator's.
    var core: Int?
    /// Whether other programs have priority.
    var isNice = false
    var seconds: Double?
    var arguments: [String] = []
}

/// A call, and the server that it is measured on.
struct Load {
    var call: CallTemplate
    var server: Server
}

extension Bench {
    /// The number of short measurements in place of each long one.
    static let shortRuns = 5
    /// Servers are warm after the first of many runs. Later ones only have to connect.
    private static let shortWarmUp = ["--warm-up", "0.1"]

    /// Measures loads in turns, in many short runs instead of few long ones: the speed of a shared machine changes
    /// within seconds, and the ratios are those within one turn.
    ///
    /// - Parameter rounds: The number of long measurements that the short ones replace; `nil` for that on the command
    ///   line.
    /// - Returns: the figures of each load, in the order of the turns.
    func alternateLoads(
        _ loads: [Load], _ shape: Shape, rounds: Int? = nil, isPinned: Bool = true
    ) throws -> [[LoadFigures]] {
        let settings = LoadSettings(
            isPinned: isPinned, seconds: seconds / Double(Self.shortRuns), arguments: Self.shortWarmUp)
        return try alternate(
            rounds: (rounds ?? self.rounds) * Self.shortRuns,
            loads.map { load in { try self.load(load.call, shape, on: load.server, settings) } })
    }

    /// Runs the load generator against a server, to its end.
    func load(
        _ call: CallTemplate, _ shape: Shape, on server: Server, _ settings: LoadSettings = LoadSettings()
    ) throws -> LoadFigures {
        try LoadFigures(try startLoad(call, shape, on: server, settings).finish())
    }

    /// Starts the load generator.
    func startLoad(
        _ call: CallTemplate, _ shape: Shape, on server: Server, _ settings: LoadSettings
    ) throws -> ChildProcess {
        var command = settings.isNice ? ["nice", "-n", "15"] : ahead()
        command += [
            place.program("load"), "--socket", server.socket, "--message", call.message, "--reply", call.reply,
            "--connections", String(shape.connections), "--in-flight", String(shape.inFlight), "--server-pid",
            String(server.pid), "--seconds", String(settings.seconds ?? seconds), "--idle", String(settings.idle),
        ]
        if call.isInOrder { command.append("--in-order") }
        if let calls = settings.calls { command += ["--calls", String(calls), "--warm-up", "0"] }
        command += call.arguments + settings.arguments
        return try ChildProcess(command, core: settings.isPinned ? settings.core ?? cores.generator : nil)
    }
}
