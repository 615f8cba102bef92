import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Observation of a running daemon", .blocking)
struct WatchingTests {
    // MARK: status

    @Test("status shows queues, plugins and their metrics: a line of JSON in a pipe, a report on a terminal")
    func status() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            _ = try client.result("persistence.create", ["table": "t", "key": "a", "record": [:]])
            let status = try JSON(parsing: daemon.home.trestle("status").output)
            #expect(
                status["plugins"]?.arrayValue?.contains { $0["name"] == "persistence" && $0["state"] == "running" }
                    == true)
            let figures = status["metrics"]?.arrayValue ?? []
            func figure(_ name: JSON, of plugin: JSON) -> Int64? {
                figures.first { $0["plugin"] == plugin && $0["name"] == name }?["value"]?.int64Value
            }
            #expect(figure("records", of: "persistence") == 1)
            #expect(figure("commits", of: "persistence") == 1)
            #expect(figure("accounts", of: "login") == 0)
            #expect(figure("store", of: "persistence") ?? 0 > 4_096)

            let terminal = try PseudoTerminal(rows: 24, columns: 200)
            let report = try terminal.run(Paths.program("trestle"), ["--socket", daemon.home.socketPath, "status"])
            #expect(try report.wait() == .exited(0))
            let text = terminal.rest()
            for part in ["uptime", "loopLag", "waitingCalls", "state.lock", "Records in all tables.", "KiB"] {
                #expect(text.contains(part), "\(text)")
            }
            let line = try terminal.run(
                Paths.program("trestle"), ["--socket", daemon.home.socketPath, "status", "--json"])
            #expect(try line.wait() == .exited(0))
            #expect(try JSON(parsing: terminal.rest())["version"] == status["version"])
        }
    }

    // MARK: metrics

    @Test("metrics prints OpenMetrics text with the metrics of daemon, plugins and process")
    func metrics() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            for _ in 0..<3 { _ = try client.result("Echo", 1) }
            _ = try client.result("persistence.create", ["table": "t", "record": [:]])
            let run = try daemon.home.trestle("metrics")
            #expect(run.end == .exited(0))
            let metrics = try OpenMetrics(run.output)
            #expect(metrics.value("trestle_calls_total", ["task": "Echo"]) == 3)
            #expect(metrics.value("trestle_call_duration_seconds_count", ["task": "Echo"]) == 3)
            #expect(metrics.value("trestle_plugin_up", ["plugin": "persistence"]) == 1)
            #expect(metrics.value("trestle_plugin_persistence_records") == 1)
            #expect(metrics.value("trestle_plugin_persistence_commits_total") == 1)
            #expect(metrics.value("trestle_plugin_login_accounts") == 0)
            #expect(try #require(metrics.value("process_resident_memory_bytes")) > 1_000_000)
            #expect(try #require(metrics.value("process_cpu_seconds_total")) > 0)
            // Standard streams, descriptors of the loop, the state lock, the databases, the socket, two connections.
            let descriptors = try #require(metrics.value("process_open_fds"))
            #expect((10...60).contains(descriptors))
            let start = try #require(metrics.value("process_start_time_seconds"))
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            #expect((Double(now.tv_sec) - 3_600...Double(now.tv_sec) + 1).contains(start))
        }
    }

    // MARK: monitor

    /// Returns the next lines of `trestle monitor`.
    private func lines(_ command: Command, _ count: Int) throws -> [JSON] {
        try (0..<count).map { _ in
            let line = try command.line()
            return try JSON(parsing: #require(line))
        }
    }

    private func awaitMonitors(_ count: JSON, _ client: Wire) throws {
        try client.result("bridge.status") { $0["monitors"] == count }
    }

    @Test("monitor prints calls and callbacks as they pass, one line of JSON each, until a signal ends it")
    func monitor() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let command = try Command(daemon.home, "monitor", "--task", "Ec*")
            try awaitMonitors(1, client)
            _ = try client.result("Echo", ["a": 1, "password": "hunter2"])
            let shown = try lines(command, 2)
            #expect(shown.map { $0["kind"] } == ["call", "callback"])
            #expect(shown[0]["options"] == ["a": 1, "password": "<private>"])
            #expect(shown[1]["result"] == ["a": 1, "password": "<private>"])
            #expect(shown[0]["call"] == shown[1]["call"])
            #expect(shown[1]["durationUs"]?.int64Value != nil)
            #expect(try command.stop() == .exited(143))
            try awaitMonitors(0, client)
        }
    }

    @Test("monitor prints no passwords and no tokens")
    func monitorSecrets() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let command = try Command(daemon.home, "monitor")
            try awaitMonitors(1, client)
            let account: JSON = ["user": "ada", "password": "hunter2-hunter2"]
            _ = try client.result("login.users.add", account)
            let grant = try client.result("login", account)
            let token = try #require(grant["token"]?.stringValue)
            _ = try client.result("login", ["token": .string(token)])
            _ = try client.call("login", ["user": "ada", "password": ["hunter2-hunter2"]])
            _ = try client.result("bridge.publish", ["event": "end", "data": ["sessionToken": .string(token)]])
            var text = ""
            while !text.contains(#""event":"end","receivers""#) { text += try #require(try command.line()) + "\n" }
            #expect(text.contains(#""task":"login.users.add""#))
            #expect(text.contains(#""event":"login.changed""#))
            #expect(!text.contains("hunter2"))
            #expect(!text.contains(token))
            #expect(text.contains(#""options":"<private>""#))
            #expect(text.contains(#""result":"<private>""#))
            _ = try command.stop()
        }
    }

    @Test("monitor selects a session or a user; on a terminal it prints readable lines")
    func monitorFilters() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let other = try daemon.connect()
            let number = try client.result("bridge.hello")["session"]?.text ?? ""
            let command = try Command(daemon.home, "monitor", "--session", number, "--uid", String(geteuid()))
            try awaitMonitors(1, other)
            let terminal = try PseudoTerminal(rows: 24, columns: 200)
            let readable = try terminal.run(
                Paths.program("trestle"), ["--socket", daemon.home.socketPath, "monitor", "--task", "Echo"],
                environment: ["TERM=xterm", "NO_COLOR=1"])
            try awaitMonitors(2, other)
            _ = try other.result("Echo", "other")
            _ = try client.result("Echo", "mine")
            #expect(try lines(command, 2).map { $0["options"] ?? $0["result"] } == ["mine", "mine"])
            let text = try terminal.read(until: "\"mine\"")
            #expect(text.contains("call      #"))
            #expect(text.contains("callback  #"))
            #expect(!text.contains("\u{1B}"))
            terminal.type("\u{3}")
            #expect(try readable.wait() == .exited(130))
            _ = try command.stop()
        }
    }

    @Test("a monitor that does not read loses lines, is notified of their number, and delays no client")
    func slowWatcher() throws {
        try withDaemon { daemon in
            let watcher = try daemon.connect()
            let client = try daemon.connect()
            _ = try watcher.result("bridge.monitor", ["task": "Echo"])
            let text = JSON.string(String(repeating: "x", count: 900))
            for _ in 0..<4_000 { _ = try client.result("Echo", text) }
            let status = try client.result("bridge.status")
            #expect(try #require(status["droppedEvents"]?.int64Value) > 0)
            #expect(try #require(status["queuedEvents"]?.int64Value) <= 1_024)
            // The lines in the socket and in the bounded queue arrive, and the number of those lost.
            try watcher.send(#"{"task":"bridge.monitor","options":{"stop":true},"callbackId":"stop"}"#)
            var (shown, lost) = (Int64(0), Int64(0))
            while true {
                let message = try watcher.receive()
                if message["event"] == "bridge.traffic" { shown += 1 }
                if message["event"] == "bridge.events_dropped" { lost += message["data"]?["count"]?.int64Value ?? 0 }
                if shown + lost == 8_000 { break }
            }
            #expect(lost == status["droppedEvents"]?.int64Value)
        }
    }

    // MARK: top

    @Test("top prints a line of JSON for each interval in a pipe")
    func topPiped() throws {
        try withDaemon { daemon in
            let command = try Command(daemon.home, "top", "--interval", "20ms")
            let first = try lines(command, 3)
            #expect(first.allSatisfy { $0["intervalMs"]?.int64Value ?? 0 > 0 })
            #expect(first[2]["tasks"]?.arrayValue?.contains { $0["name"] == "bridge.status" } == true)
            #expect(first[2]["sessions"]?[0]?["client"] == "trestle")
            #expect(try command.stop(SIGINT) == .exited(130))
        }
    }

    private func top(_ daemon: DaemonProcess, _ terminal: PseudoTerminal) throws -> SpawnedProcess {
        let process = try terminal.run(
            Paths.program("trestle"), ["--socket", daemon.home.socketPath, "top", "--interval", "30ms"])
        #expect(try terminal.read(until: "bridge.status").contains("\u{1B}[?1049h"))
        #expect(!terminal.isAsShellsWantIt)
        return process
    }

    @Test("top draws on the terminal, at its size, until q is typed, and restores the terminal")
    func topTerminal() throws {
        try withDaemon { daemon in
            let terminal = try PseudoTerminal(rows: 10, columns: 60)
            let process = try top(daemon, terminal)
            let frame = try terminal.read(until: "\u{1B}[J")
            let lines = try terminal.read(until: "\u{1B}[J").split(separator: "\r\n")
            #expect(lines.count <= 10, "\(frame)")
            terminal.resize(rows: 5, columns: 30)
            // The frame that was in progress, and the first one of the new size.
            for _ in 0..<2 { _ = try terminal.read(until: "\u{1B}[J") }
            #expect(try terminal.read(until: "\u{1B}[J").split(separator: "\r\n").count <= 5)
            terminal.type("q")
            #expect(try process.wait() == .exited(0))
            #expect(terminal.rest().hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
            #expect(terminal.isAsShellsWantIt)
        }
    }

    @Test(
        "top restores the terminal, whatever signal ends it",
        arguments: [
            (SIGINT, ProcessEnd.exited(130)), (SIGTERM, .exited(143)), (SIGHUP, .killed(by: SIGHUP)),
            (SIGQUIT, .killed(by: SIGQUIT)), (SIGSEGV, .killed(by: SIGSEGV)), (SIGABRT, .killed(by: SIGABRT)),
        ])
    func topSignals(signal: Int32, end: ProcessEnd) throws {
        try withDaemon { daemon in
            let terminal = try PseudoTerminal(rows: 24, columns: 80)
            let process = try top(daemon, terminal)
            process.signal(signal)
            #expect(try process.wait() == end)
            #expect(terminal.rest().hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
            #expect(terminal.isAsShellsWantIt)
        }
    }

    @Test("top restores the terminal when the daemon ends, and reports it")
    func topDaemonEnds() throws {
        try withDaemon { daemon in
            let terminal = try PseudoTerminal(rows: 24, columns: 80)
            let process = try top(daemon, terminal)
            #expect(try daemon.stop() == .exited(0))
            #expect(try process.wait() != .exited(0))
            let text = terminal.rest()
            #expect(text.contains("\u{1B}[?25h\u{1B}[?1049ltrestle: "), "\(text.suffix(300))")
            #expect(terminal.isAsShellsWantIt)
        }
    }
}
