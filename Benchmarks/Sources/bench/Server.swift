import Glibc

/// A measured server: a process that listens on a Unix socket.
final class Server {
    /// The server's name in the table.
    let name: String
    let socket: String
    private let process: ChildProcess

    /// Starts a server and waits until it answers.
    ///
    /// - Parameter probe: A line, and a text that its answer contains once the server is ready.
    init(
        _ name: String, _ command: [String], socket: String, core: Int?, environment: [String: String] = [:],
        log: String, probe: (line: String, answer: String)
    ) throws {
        self.name = name
        self.socket = socket
        process = try ChildProcess(command, core: core, environment: environment, log: log)
        // Steps of a millisecond, because the start is measured, too.
        for _ in 0..<30_000 {
            if let answer = UnixCall.answer(to: probe.line, at: socket), answer.contains(probe.answer) { return }
            if process.hasEnded { break }
            usleep(1000)
        }
        throw Failure("\(name) does not answer; its log: \(readFile(log))")
    }

    var pid: pid_t { process.pid }

    /// Called before the daemon is stopped regularly.
    var willStop: ((Server) -> Void)?

    func stop() {
        if !process.hasEnded { willStop?(self) }
        willStop = nil
        process.stop()
    }

    /// Kills the server immediately.
    func abandon() {
        willStop = nil
        signal(SIGKILL)
        process.stop()
    }

    /// The long turns of its loop that a daemon reports, with the steps that ran last in them, as JSON; `nil` if it
    /// reports none.
    var longTurns: (count: Double, longestMilliseconds: Double, steps: String)? {
        let status = UnixCall.answer(to: #"{"task":"bridge.status","callbackId":1}"# + "\n", at: socket) ?? ""
        func number(behind text: String) -> Double? {
            guard let start = status.firstRange(of: text)?.upperBound else { return nil }
            return Double(status[start...].prefix { $0.isNumber })
        }
        guard let count = number(behind: #""longTurns":{"count":"#),
            let longest = number(behind: #""longTurns":{"count":\#(Int(count)),"longestUs":"#)
        else { return nil }
        let steps = status.firstRange(of: #""steps":["#).map { status[$0.upperBound...].prefix { $0 != "]" } }
        return (count, longest / 1000, String(steps ?? ""))
    }

    /// Sends a signal to the server.
    func signal(_ number: Int32) { kill(pid, number) }

    /// The CPU time that the server has used so far.
    var cpuSeconds: Double { RunningProcess(pid: pid).cpuSeconds }

    /// Returns a value of `/proc/PID/status` in KiB, such as `RssAnon`.
    func memoryKiB(_ name: String) -> Double { RunningProcess(pid: pid).memoryKiB(name) }
}

/// The settings of a measured daemon.
struct DaemonSettings {
    /// The folder of its plugins; `nil` for the plugins built with it.
    var pluginFolder: String?
    /// Lines at the beginning of its configuration, before any table.
    var topLevel = ""
    /// Further lines of its configuration.
    var configuration = ""
    /// Whether it is pinned to a core.
    var isPinned = true
    /// Whether it comes before everything else with `--first`.
    var comesFirst = true
    /// A call that succeeds once the daemon is ready.
    var probe = Calls.probe
    /// The name of its state directory; `nil` for a new, empty one.
    var state: String?
    var environment: [String: String] = [:]
}

extension Bench {
    /// Starts the C program that only echoes bytes.
    func startFloor() throws -> Server {
        let socket = place.sockets + "/floor.sock"
        return try Server(
            "floor", [place.program("floor"), socket], socket: socket, core: cores.server,
            log: place.sockets + "/floor.log", probe: ("x\n", "x"))
    }

    /// Starts the daemon.
    func startDaemon(_ settings: DaemonSettings = DaemonSettings()) throws -> Server {
        startedDaemons += 1
        let socket = place.sockets + "/trestle-\(startedDaemons).sock"
        let configuration = place.sockets + "/trestled-\(startedDaemons).toml"
        // All idle connections, and those that call.
        let limits = "[limits]\nsessions = \(Self.idleConnections + 1000)\n"
        try writeFile(configuration, "\(settings.topLevel)\n\(limits)\(settings.configuration)\n")
        var command = settings.comesFirst ? ahead() : []
        command += [
            place.daemon, "--config", configuration, "--socket", socket, "--state-dir",
            place.data + "/" + (settings.state ?? "state-\(startedDaemons)"),
        ]
        if let folder = settings.pluginFolder { command += ["--plugin-dir", folder] }
        let daemon = try Server(
            "trestle", command, socket: socket, core: settings.isPinned ? cores.server : nil,
            environment: settings.environment, log: place.daemonLog, probe: settings.probe)
        daemon.willStop = { [weak self] in self?.noteLongTurns(of: $0) }
        return daemon
    }

    private func noteLongTurns(of daemon: Server) {
        guard let turns = daemon.longTurns else { return printStatus("a daemon does not report long turns") }
        longTurns += turns.count
        if turns.count > 0 {
            let longest = "the longest of \(turns.longestMilliseconds) ms of CPU time"
            printStatus("\(Int(turns.count)) long turns of the daemon, \(longest): \(turns.steps)")
        }
    }

    /// Starts Redis, if it is installed, with a value of the length of Echo's answer.
    func startRedis() throws -> Server? {
        guard let program = Place.find("redis-server") else { return nil }
        let socket = place.sockets + "/redis.sock"
        return try Server(
            "redis",
            [
                program, "--unixsocket", socket, "--port", "0", "--save", "", "--appendonly", "no", "--dir",
                place.sockets,
            ],
            socket: socket, core: cores.server, log: place.sockets + "/redis.log",
            probe: (Calls.redisSet, "+OK"))
    }

    /// Starts a program that provides the task `bench.forwarded` as a client.
    func startProvider(for server: Server) throws -> ChildProcess {
        let process = try ChildProcess(
            [place.program("provider"), server.socket, Calls.forwardedTask], core: cores.generator)
        guard process.firstLine() == "ready" else { throw Failure("the provider's task was not taken") }
        return process
    }
}
