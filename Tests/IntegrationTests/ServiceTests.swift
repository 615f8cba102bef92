import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The daemon under a service manager", .blocking)
struct ServiceTests {
    /// Returns the paths of a daemon and the service manager that it notifies.
    private func managed(
        _ configuration: String = "", pluginDirectory: String? = nil, variables: [String] = [], isAbstract: Bool = false
    ) throws -> (home: DaemonHome, manager: FakeServiceManager) {
        let manager = try FakeServiceManager(isAbstract: isAbstract)
        let home = try DaemonHome(configuration, pluginDirectory: pluginDirectory)
        home.environment += ["NOTIFY_SOCKET=\(manager.address)"] + variables
        return (home, manager)
    }

    @Test("reports that it is ready once it listens, and its state", arguments: [false, true])
    func ready(isAbstract: Bool) throws {
        let (home, manager) = try managed(isAbstract: isAbstract)
        let daemon = try DaemonProcess(in: home)
        #expect(try manager.awaitText().hasPrefix("READY=1\nSTATUS=0 sessions, 0 calls/s, "))
        // The first attempt succeeds.
        #expect(try home.connect().result("Echo", 1) == 1)
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("is ready only when its launch workers are done, and reports why it cannot start")
    func cannotStart() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.launchWorkers = #"[{"name":"specimen.prepare","phase":"afterListening"}]"#
        try plugin.build(in: folder)
        let (home, manager) = try managed(pluginDirectory: folder.path)
        let daemon = try DaemonProcess(in: home)
        let status = try manager.awaitText()
        #expect(
            status.hasPrefix("STATUS=cannot start: the required launch worker specimen.prepare failed: the disk is"),
            "\(status)")
        #expect(try daemon.wait() == .exited(1))
        #expect(throws: FakeServiceManager.Failure.self) { try manager.text() }
    }

    @Test("reports the start and the end of a reload, whether the configuration is valid or not")
    func reload() throws {
        let (home, manager) = try managed("log_level = \"info\"")
        try withDaemon(in: home) { daemon throws in
            #expect(try manager.awaitText().hasPrefix("READY=1"))
            for configuration in ["log_level = \"error\"", "log_level = \"loud\""] {
                try home.write(configuration: configuration)
                daemon.signal(SIGHUP)
                let begin = try manager.awaitText { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") }
                #expect(begin.hasSuffix("STATUS=reloading the configuration"), "\(begin)")
                #expect(try manager.awaitText { $0.hasPrefix("READY=1\nSTATUS=") } != "")
            }
        }
    }

    @Test("updates its status while clients connect and disconnect")
    func status() throws {
        let (home, manager) = try managed()
        try withDaemon(in: home) { daemon throws in
            #expect(try manager.awaitText().hasPrefix("READY=1"))
            let client = try daemon.connect()
            _ = try client.result("Echo", 1)
            // The test itself connected to check whether the daemon is ready.
            #expect(try manager.awaitText { $0.hasPrefix("STATUS=1 session,") } != "")
            client.close()
            #expect(try manager.awaitText { $0.hasPrefix("STATUS=0 sessions, 0 calls/s, ") } != "")
        }
    }

    @Test("sends watchdog messages from its loop, and none while the loop is blocked")
    func watchdog() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        // Notifies the test and never returns.
        plugin.definitions = "#include <fcntl.h>\n#include <unistd.h>"
        plugin.call = "close(open(\"\(folder.file("stuck"))\", O_CREAT | O_WRONLY, 0600)); for (;;) pause();"
        try plugin.build(in: folder)
        let (home, manager) = try managed(
            "[plugins.specimen]\nisolation = \"none\"", pluginDirectory: folder.path,
            variables: ["WATCHDOG_USEC=100000"])
        try withDaemon(in: home) { daemon throws in
            #expect(try manager.awaitText().hasPrefix("READY=1"))
            for _ in 1...5 { #expect(try manager.awaitText { $0 == "WATCHDOG=1" } != "") }
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","callbackId":1}"#)
            let deadline = Deadline()
            while !exists(folder.file("stuck")) {
                if deadline.isOver { throw TestFailure("the plugin is not called") }
                _ = try? manager.text(within: 10)
            }
            // Discards what was sent before the block. Then nothing arrives for longer than the watchdog interval.
            while (try? manager.text()) != nil {}
            #expect(throws: FakeServiceManager.Failure.self) { try manager.text(within: 500) }
            daemon.signal(SIGKILL)
            #expect(try daemon.wait() == .killed(by: SIGKILL))
        }
    }

    @Test("does not send watchdog messages for another process")
    func anothersWatchdog() throws {
        let (home, manager) = try managed(variables: ["WATCHDOG_USEC=1000", "WATCHDOG_PID=1"])
        try withDaemon(in: home) { daemon throws in
            #expect(try manager.awaitText().hasPrefix("READY=1"))
            #expect(try daemon.stop() == .exited(0))
            while let text = try? manager.text() { #expect(!text.contains("WATCHDOG")) }
        }
    }

    @Test("reports that it stops, and the time that this may take")
    func stopping() throws {
        let (home, manager) = try managed("drain_timeout = \"7s\"\nstop_timeout = \"2s\"")
        try withDaemon(in: home) { daemon throws in
            #expect(try manager.awaitText().hasPrefix("READY=1"))
            daemon.signal(SIGTERM)
            #expect(try daemon.wait() == .exited(0))
            // Each timeout includes five seconds for a busy machine. The plugins stop in sequence, and one second is
            // for writing.
            #expect(
                try manager.awaitText { $0.hasPrefix("STOPPING=1") }
                    == "STOPPING=1\nSTATUS=draining 0 calls\nEXTEND_TIMEOUT_USEC=12000000")
            let plugins = daemon.log.split(separator: "\n").count { $0.contains(" was started from ") }
            #expect(
                try manager.text()
                    == "STOPPING=1\nSTATUS=stopping \(plugins) plugins\nEXTEND_TIMEOUT_USEC=\(plugins * 2 + 6)000000")
            #expect(throws: FakeServiceManager.Failure.self) { try manager.text() }
        }
    }

    @Test("does not pass the variables of the service manager to plugins and children")
    func variables() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.definitions = "#include <stdlib.h>"
        plugin.start = """
            system("env > \(folder.file("child"))");
            host->reply(host, request->call, text("{}"));
            """
        plugin.call = #"host->reply(host, request->call, text(getenv("NOTIFY_SOCKET") ? "true" : "false"));"#
        try plugin.build(in: folder)
        let (home, _) = try managed(
            "[plugins.specimen]\nisolation = \"none\"", pluginDirectory: folder.path,
            variables: ["WATCHDOG_USEC=1000000", "LISTEN_PID=1", "LISTEN_FDS=1", "LISTEN_FDNAMES=x", "KEPT=1"])
        try withDaemon(in: home) { daemon throws in
            #expect(try daemon.connect().result("specimen") == false)
            let child = contents(of: folder.file("child")).split(separator: "\n")
            #expect(child.contains("KEPT=1"))
            for name in ["NOTIFY_", "WATCHDOG_", "LISTEN_"] { #expect(!child.contains { $0.hasPrefix(name) }) }
            #expect(daemon.log.contains("LISTEN_PID is 1, and this is process \(daemon.pid)"))
        }
    }

    @Test("continues if the service manager cannot be reached, and logs this once")
    func unreachable() throws {
        let home = try DaemonHome()
        home.environment += ["NOTIFY_SOCKET=\(home.folder.file("nobody"))", "WATCHDOG_USEC=20000"]
        try withDaemon(in: home) { daemon throws in
            #expect(try daemon.connect().result("Echo", 1) == 1)
            #expect(try daemon.stop() == .exited(0))
            let lines = daemon.log.split(separator: "\n")
            #expect(lines.count { $0.contains("service manager could not be notified") } == 1)
        }
    }

    @Test("raises its descriptor limit to the hard limit, and warns if this is too low")
    func descriptorLimit() throws {
        let home = try DaemonHome("limits.sessions = 500")
        let process = try SpawnedProcess(
            "/usr/bin/prlimit", ["--nofile=64:256", Paths.program("trestled")] + home.commandLine,
            environment: home.environment, errors: .file(home.logPath))
        let deadline = Deadline()
        while (try? home.connect()) == nil {
            if process.hasEnded(within: 2) || deadline.isOver { throw TestFailure("no daemon: \(home.log)") }
        }
        let limits = contents(of: "/proc/\(process.pid)/limits").split(separator: "\n")
        let line = try #require(limits.first { $0.hasPrefix("Max open files") })
        #expect(line.split(separator: " ").dropFirst(3).prefix(2) == ["256", "256"])
        #expect(home.log.contains("256 descriptors, which is enough for 156 sessions, and limits.sessions is 500"))
        process.signal(SIGTERM)
        #expect(try process.wait() == .exited(0))
    }
}

extension FakeServiceManager {
    /// Waits for the next text that satisfies the condition. Skips other texts.
    func awaitText(_ isWanted: (String) -> Bool = { _ in true }) throws -> String {
        let deadline = Deadline()
        while true {
            let text = try text(within: deadline.millisecondsLeft)
            if isWanted(text) { return text }
        }
    }
}
