import BridgeJSON
import Glibc
import TestSupport
import Testing

extension DaemonHome {
    func write(configuration: String) throws { try folder.write(configuration, to: "trestled.toml") }
}

extension DaemonProcess {
    /// Waits until the log contains the text. Polls the daemon through `client`.
    func awaitLog(_ text: String, _ client: Wire) throws {
        try client.result("bridge.ping", until: { _ in log.contains(text) })
    }
}

@Suite("A configuration that is reloaded", .blocking)
struct ReloadTests {
    @Test("by SIGHUP applies to open sessions, and the settings that need a restart are named")
    func signal() throws {
        let home = try DaemonHome("limits.calls_in_flight = 1")
        home.logLevel = nil
        try withDaemon(in: home) { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            _ = try provider.result("bridge.subscribe", ["events": ["daemon.reloaded"]])
            let client = try daemon.connect()
            try client.send(#"{"task":"slow","callbackId":"kept"}"#)
            let slow = try provider.receive { $0["task"] == "slow" }
            let kept = try #require(slow["callbackId"])
            #expect(try client.call("Echo")["error"]?["code"] == "busy")
            try home.write(
                configuration: """
                    log_level = "debug"
                    call_timeout = "20ms"
                    state_dir = "/elsewhere"
                    limits.calls_in_flight = 2
                    plugins.disabled = ["echo"]
                    """)
            daemon.signal(SIGHUP)
            let event = try provider.receive { $0["event"] == "daemon.reloaded" }
            let applied: JSON = ["log_level", "call_timeout", "limits.calls_in_flight"]
            // The flag for the state directory still has precedence over the file.
            #expect(event["data"] == ["applied": applied, "restart": ["plugins.disabled"]])
            #expect(try client.result("Echo", 1) == 1)
            #expect(try client.call("slow")["error"]?["code"] == "call.timeout")
            // The call that was in flight keeps the deadline that it started with.
            try provider.send(["callbackId": kept, "result": "in time"])
            let answer = try client.receive { $0["callbackId"] == "kept" }
            #expect(answer["result"] == "in time")
            let file = home.folder.file("trestled.toml")
            #expect(
                daemon.log.contains(
                    "SIGHUP: read \(file); applied: log_level, call_timeout, limits.calls_in_flight; "
                        + "after a restart: plugins.disabled"))
            // Only visible at this level.
            let before = daemon.log.split(separator: "\n").count { $0.contains(" debug ") }
            #expect(before == 0)
            try provider.send(["callbackId": kept, "result": "too late"])
            try daemon.awaitLog(" debug ", client)
        }
    }

    @Test("by the command is reported with applied settings, settings that need a restart, and warnings")
    func command() throws {
        try withDaemon("log_level = \"info\"") { daemon in
            let home = daemon.home
            #expect(
                try home.trestle("reload").output == #"{"applied":[],"restart":[],"file":"#
                    + JSON.string(home.folder.file("trestled.toml")).text + #","warnings":[]}"# + "\n")
            try home.write(configuration: "plugin_dir = \"\(Paths.build)\"\nlimits.event_queue_bytes = \"4KiB\"")
            for _ in 0..<2 {
                let reload = try home.trestle("reload")
                #expect(reload.end == .exited(0), "\(reload.errors)")
                let result = try JSON(parsing: reload.output)
                // Settings that need a restart are named until the daemon restarts.
                #expect(result["restart"] == ["plugin_dir"])
                #expect(result["warnings"]?.arrayValue?.count == 1)
                #expect(
                    reload.errors.contains(
                        "trestle: warning: \(home.folder.file("trestled.toml")):2:28: limits.event_queue_bytes: "),
                    "\(reload.errors)")
            }
            #expect(daemon.log.contains("\(home.folder.file("trestled.toml")):2:28: limits.event_queue_bytes"))
            // A missing file counts as an empty one.
            unlink(home.folder.file("trestled.toml"))
            #expect(
                try daemon.connect().result("bridge.reload") == [
                    "applied": ["limits.event_queue_bytes"], "restart": [], "file": nil, "warnings": [],
                ])
        }
    }

    @Test("and is invalid changes nothing, and every mistake is reported with its position")
    func refused() throws {
        let home = try DaemonHome("log_level = \"error\"\nlimits.calls_in_flight = 1")
        home.logLevel = nil
        try withDaemon(in: home) { daemon in
            let file = home.folder.file("trestled.toml")
            try home.write(
                configuration: """
                    log_level = "loud"
                    limits.calls_in_flight = 5
                    sockte = "/s"
                    """)
            let reload = try home.trestle("reload")
            #expect(reload.end == .exited(78))
            #expect(reload.output == "")
            let lines = reload.errors.split(separator: "\n")
            #expect(lines.count == 3, "\(reload.errors)")
            #expect(lines[0].hasPrefix("trestle: \(file):1:13: log_level: expected one of"), "\(lines[0])")
            #expect(
                lines[1].hasPrefix("trestle: \(file):3:1: sockte: unknown key; did you mean 'socket'?"), "\(lines[1])")
            #expect(lines[2] == "trestle: the daemon continues as before (configuration.invalid)")

            let client = try daemon.connect()
            let error = try client.call("bridge.reload")["error"]
            let problems = error?["data"]?["problems"]?.arrayValue ?? []
            #expect(problems.count == 2)
            #expect(problems.first?["file"] == .string(file))
            #expect(problems.first?["line"] == 1)
            #expect(problems.first?["column"] == 13)
            #expect(problems.first?["key"] == "log_level")
            #expect(problems.first?["reason"]?.stringValue?.hasPrefix("expected one of") == true)

            daemon.signal(SIGHUP)
            // Each of the three reloads logged each mistake.
            try client.result("bridge.ping") { _ in
                daemon.log.split(separator: "\n").count { $0.contains("\(file):3:1: sockte: unknown key") } == 3
            }
            #expect(daemon.log.contains("SIGHUP: the configuration is invalid, and nothing was changed"))
            #expect(try client.result("bridge.hello")["limits"]?["callsInFlight"] == 1)
            // A file that is not TOML is refused in the same way.
            try home.write(configuration: "log_level = ")
            #expect(try client.call("bridge.reload")["error"]?["data"]?["problems"]?[0]?["line"] == 1)
            #expect(try client.result("bridge.hello")["limits"]?["callsInFlight"] == 1)
            #expect(!daemon.log.contains(" notice "))
            try home.write(configuration: "limits.calls_in_flight = 5")
            #expect(try client.result("bridge.reload")["applied"] == ["log_level", "limits.calls_in_flight"])
            #expect(try client.result("bridge.hello")["limits"]?["callsInFlight"] == 5)
        }
    }

    @Test("applies the limits of messages and unread bytes to open sessions")
    func sessionLimits() throws {
        let home = try DaemonHome("limits.message_bytes = \"2KiB\"\nlimits.unread_bytes = \"4KiB\"")
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            let text = JSON.string(String(repeating: "x", count: 4_096))
            try client.send(["task": "Echo", "options": text, "callbackId": 1])
            #expect(try client.receive()["error"]?["code"] == "message.too_large")
            // The client does not read: after some calls the daemon stops reading them.
            var sender = Sender(try daemon.connect(), EchoFlood(count: 16 * 1_024, optionsBytes: 1_024))
            try sender.stuff(daemon, boundBytes: 4_096)
            func queuedBytes() throws -> Int64 {
                let sessions = try client.result("bridge.sessions")["sessions"]?.arrayValue ?? []
                return sessions.compactMap { $0["queuedBytes"]?.int64Value }.max() ?? 0
            }
            let before = try queuedBytes()
            #expect(before < 64 * 1_024)
            try home.write(configuration: "limits.message_bytes = \"64KiB\"\nlimits.unread_bytes = \"1GiB\"")
            _ = try client.result("bridge.reload")
            #expect(try client.result("Echo", text) == text)
            let deadline = Deadline()
            while try queuedBytes() < before + 256 * 1_024 {
                _ = try sender.sendWhatFits()
                if deadline.isOver { throw TestFailure("the daemon does not read on") }
            }
            try sender.pump()
            #expect(sender.isDone)
        }
    }

    @Test("changes the permissions of the socket, and the limits for new connections")
    func socket() throws {
        let home = try DaemonHome()
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try home.write(
                configuration:
                    "socket_mode = \"0666\"\nlimits.sessions = 1\nstop_timeout = \"1s\"\ndrain_timeout = \"1s\"")
            #expect(try client.result("bridge.reload")["applied"]?.arrayValue?.count == 4)
            var status = stat()
            #expect(lstat(home.socketPath, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o666)
            #expect(try daemon.connect().receive()["error"]?["code"] == "busy")
            // The daemon does not change a socket that is no longer its own: it refuses the whole reload.
            rename(home.socketPath, home.socketPath + ".away")
            try home.write(configuration: "socket_mode = \"0600\"\nlimits.sessions = 9")
            let problem = try client.call("bridge.reload")["error"]?["data"]?["problems"]?[0]
            #expect(problem?["key"] == "socket_mode")
            #expect(problem?["line"] == 1)
            rename(home.socketPath + ".away", home.socketPath)
            #expect(try daemon.connect().receive()["error"]?["code"] == "busy")
            #expect(try client.result("bridge.status")["quotaRefusals"]?["connections"] == 2)
        }
    }

    @Test("repeatedly and concurrently answers each request, and delays no call")
    func many() throws {
        let home = try DaemonHome("limits.sessions = 100")
        try withDaemon(in: home) { daemon in
            let clients = try (0..<5).map { _ in try daemon.connect() }
            for round in 0..<20 {
                try home.write(
                    configuration: round.isMultiple(of: 3) ? "limits.sessions = x" : "limits.sessions = \(100 + round)")
                for client in clients {
                    try client.send(
                        "{\"task\":\"bridge.reload\",\"callbackId\":\"r\"}\n{\"task\":\"Echo\",\"callbackId\":\"e\"}")
                }
                daemon.signal(SIGHUP)
                for client in clients {
                    let answers = [try client.receive(), try client.receive()]
                    // The call arrived after the reload and was answered before it.
                    #expect(answers.map { $0["callbackId"] } == ["e", "r"])
                    #expect((answers[1]["error"] != nil) == round.isMultiple(of: 3), "\(answers[1].text)")
                }
            }
            try home.write(configuration: "")
            // The last signal may put this in force. After two more reloads no change is left.
            _ = try clients[0].result("bridge.reload")
            #expect(try clients[0].result("bridge.reload")["applied"] == [])
        }
    }

    @Test("is ignored by a daemon that stops, and SIGHUP does not end the daemon")
    func draining() throws {
        let home = try DaemonHome()
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            try client.send(#"{"task":"slow","callbackId":"s"}"#)
            let call = try #require(try provider.receive()["callbackId"])
            _ = try client.result("bridge.subscribe", ["events": ["daemon.draining"]])
            daemon.signal(SIGTERM)
            _ = try client.receive { $0["event"] == "daemon.draining" }
            try home.write(configuration: "log_level = \"loud\"")
            daemon.signal(SIGHUP)
            #expect(try client.call("bridge.reload")["error"]?["code"] == "daemon.stopping")
            while !daemon.log.contains("SIGHUP: the daemon is stopping") {
                #expect(try client.call("bridge.ping")["error"]?["code"] == "daemon.stopping")
            }
            try provider.send(["callbackId": call, "result": 1])
            #expect(try client.receive { $0["callbackId"] == "s" }["result"] == 1)
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("during the launch is read once the daemon is ready")
    func launching() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        try PluginInC(
            start: """
                FILE *ready = fopen("\(folder.file("started"))", "w"); fclose(ready);
                \(gate.c)
                host->reply(host, request->call, text("{}"));
                """, definitions: "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/file.h>"
        ).build(in: folder)
        let home = try DaemonHome("limits.sessions = 50", pluginDirectory: folder.path)
        let daemon = try DaemonProcess(in: home)
        let deadline = Deadline()
        while !exists(folder.file("started")), !deadline.isOver {
            if daemon.hasEnded { throw TestFailure("the daemon ended: \(daemon.log)") }
        }
        daemon.signal(SIGHUP)
        try home.write(configuration: "limits.sessions = 51")
        gate.open()
        try daemon.awaitReady()
        try daemon.awaitLog(
            "SIGHUP: read \(home.folder.file("trestled.toml")); applied: limits.sessions", daemon.connect())
        #expect(try daemon.stop() == .exited(0))
    }
}
