import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The memory and the environment of the daemon", .blocking)
struct MemoryTests {
    /// Starts a daemon without a limit on the size of its core file, which goes to the folder of its home.
    private func start(_ home: DaemonHome) throws -> (SpawnedProcess, Wire) {
        let script = "ulimit -c unlimited && cd \"$0\" && exec \"$@\""
        let process = try SpawnedProcess(
            "/bin/sh", ["-c", script, home.folder.path, Paths.program("trestled")] + home.commandLine,
            environment: home.environment, output: .file(home.logPath), errors: .file(home.logPath))
        return (process, try Wire.awaiting(home, process))
    }

    @Test("stay out of core files, unless protect_memory is false")
    func core() throws {
        // Swift does not handle this signal.
        for (configuration, isDumped) in [("", false), ("protect_memory = false", true)] {
            let home = try DaemonHome(configuration)
            let (process, client) = try start(home)
            _ = try client.result("Echo", "hunter2")
            process.signal(SIGSYS)
            #expect(try process.wait() == .killed(by: SIGSYS))
            // The core file would be in the folder of the home, which must still exist.
            withExtendedLifetime(home) { #expect(process.hasDumpedCore == isDumped) }
        }
    }

    @Test("stay out of the log when the daemon crashes")
    func crash() throws {
        let home = try DaemonHome()
        let (process, client) = try start(home)
        _ = try client.result("Echo", "hunter2")
        process.signal(SIGSEGV)
        #expect(try process.wait() == .killed(by: SIGSEGV))
        #expect(!home.log.contains("Registers:") && !home.log.contains("hunter2"), "\(home.log)")
    }

    @Test("stay out of the log when a plugin process crashes")
    func crashOfPlugin() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.definitions = "#include <signal.h>\n"
        plugin.call = "raise(SIGSEGV); raise(SIGKILL);"
        try plugin.build(in: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let error = try daemon.connect().call("specimen", "hunter2")["error"]
            #expect(error?["code"] == "plugin.crashed" && error?["data"]?["signal"] == 11, "\(error?.text ?? "")")
            #expect(!daemon.log.contains("Registers:") && !daemon.log.contains("hunter2"), "\(daemon.log)")
        }
    }

    @Test(
        "cannot be read by other processes of the same user", .enabled(if: geteuid() == 0, "only root can be anybody"))
    func debuggers() throws {
        let home = try DaemonHome()
        // A folder that this user owns.
        chmod(home.folder.path, 0o700)
        chown(home.folder.path, 65_534, 65_534)
        let asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let daemon = try SpawnedProcess(
            "/usr/bin/setpriv", asNobody + [Paths.program("trestled")] + home.commandLine,
            environment: home.environment, errors: .file(home.logPath))
        let client = try Wire.awaiting(home, daemon)
        // The daemon itself can still read what it needs of /proc.
        #expect(try client.result("Echo", 1) == 1)
        #expect(try client.result("bridge.status")["pid"]?.int64Value == Int64(daemon.pid))
        for file in ["mem", "environ", "maps"] {
            let reading = try run("/usr/bin/setpriv", asNobody + ["/bin/cat", "/proc/\(daemon.pid)/\(file)"])
            #expect(reading.end != .exited(0) && reading.errors.contains("Permission denied"), "\(file)")
        }
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .exited(0))
    }

    @Test(
        "are not passed to plugins: these get PATH, LANG, the variables of the manifest and their own socket",
        arguments: ["worker", "library"])
    func environment(kind: String) throws {
        let folder = try TemporaryFolder()
        if kind == "worker" {
            var process = PluginInPython()
            process.call = #"say({"callbackId": id, "result": sorted(os.environ)})"#
            process.settings = "environment = { OWN = \"1\" }"
            try process.write(to: folder)
        } else {
            var plugin = PluginInC()
            plugin.definitions = """
                #include <stdio.h>
                extern char **environ;
                """
            plugin.call = """
                char names[4096] = "[", *end = names + 1;
                for (char **next = environ; *next; next++)
                    end += sprintf(end, "%s\\"%.*s\\"", end[-1] == '[' ? "" : ",", (int)(strchr(*next, '=') - *next), *next);
                strcpy(end, "]");
                host->reply(host, request->call, text(names));
                """
            try plugin.build(in: folder)
        }
        let home = try DaemonHome(pluginDirectory: folder.path)
        home.environment += [
            "NOTIFY_SOCKET=/nowhere", "WATCHDOG_USEC=60000000", "LISTEN_FDS=0", "LISTEN_PID=1", "FDSTORE=4",
            "CREDENTIALS_DIRECTORY=/run/credentials/trestle", "INVOCATION_ID=1", "JOURNAL_STREAM=1:2",
            "STATE_DIRECTORY=/var/lib/trestle", "DATABASE_PASSWORD=hunter2", "LD_LIBRARY_PATH=/usr/lib", "LANG=C",
        ]
        let kept: Set = ["PATH", "LANG"]
        let variables = Set(home.environment.map { String($0.prefix { $0 != "=" }) })
        try withDaemon(in: home) { daemon throws in
            let names = Set(try daemon.connect().result("specimen").arrayValue?.compactMap(\.stringValue) ?? [])
            let own: Set = kind == "worker" ? ["OWN", "TRESTLE_PLUGIN"] : []
            #expect(names.isSuperset(of: own.union(kept).union(["TRESTLE_PLUGIN_FD"])), "\(names)")
            // The interpreter and its start may add variables.
            #expect(names.isDisjoint(with: variables.subtracting(kept)), "\(names)")
            if kind == "library" { #expect(names.subtracting(kept) == ["TRESTLE_PLUGIN_FD"], "\(names)") }
        }
    }
}
