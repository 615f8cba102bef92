import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Processes that a plugin process has started, also in sessions that no signal to the plugin process reaches.
@Suite("Descendants of a plugin process", .blocking)
struct DescendantTests {
    /// The way in which the process ends.
    enum End: String, CaseIterable, CustomTestStringConvertible {
        case unload, crash, kill, stop
        var testDescription: String { rawValue }
    }

    /// Forks a child in its own session, which forks a grandchild in its own session. With the options "orphan" the
    /// child ends at once, so that the grandchild has no parent while the plugin runs. Otherwise the child ends after
    /// the grandchild.
    /// Answers with the process ID of the grandchild. The options "crash" abort the process.
    private static func plugin(_ name: String) -> PluginInC {
        PluginInC(
            name: name, task: name,
            call: """
                if (memchr(request->options.data, 'c', request->options.size)) abort();
                int orphan = memchr(request->options.data, 'p', request->options.size) != 0;
                int pipes[2];
                if (pipe(pipes) != 0) return;
                if (fork() == 0) {
                    setsid();
                    prctl(PR_SET_PDEATHSIG, 0);
                    signal(SIGCHLD, SIG_DFL);
                    for (int file = 3; file < 256; file++) if (file != pipes[1]) close(file);
                    pid_t last = fork();
                    if (last == 0) {
                        setsid();
                        unsetenv("TRESTLE_PLUGIN");
                        int zero = memchr(request->options.data, 'z', request->options.size) != 0;
                        struct rlimit most = {!zero, !zero};
                        if (zero || memchr(request->options.data, 'd', request->options.size))
                            setrlimit(RLIMIT_RTTIME, &most);
                        close(pipes[1]);
                        for (;;) pause();
                    }
                    if (write(pipes[1], &last, sizeof last) >= 0 && !orphan) waitpid(last, NULL, 0);
                    _exit(0);
                }
                pid_t last = 0;
                if (read(pipes[0], &last, sizeof last) < 0) last = -1;
                close(pipes[0]);
                close(pipes[1]);
                char digits[24];
                snprintf(digits, sizeof digits, "%d", (int)last);
                host->reply(host, request->call, text(digits));
                """,
            definitions: """
                #define _GNU_SOURCE
                #include <signal.h>
                #include <stdio.h>
                #include <stdlib.h>
                #include <sys/prctl.h>
                #include <sys/resource.h>
                #include <sys/wait.h>
                #include <unistd.h>
                """)
    }

    /// The options of the plugin's task, see above. "hide" lowers the limit by which the daemon recognises the process,
    /// as far as possible without clearing it; "zero" sets it to 0.
    private static let ways: [JSON] = ["stay", "orphan", "hide", "orphan, hide", "zero", "orphan, zero"]

    @Test("end with it, in whatever session they run", arguments: End.allCases, ways)
    func ends(end: End, way: JSON) throws {
        let folder = try TemporaryFolder()
        try Self.plugin("specimen").build(in: folder)
        let home = try DaemonHome(pluginDirectory: folder.path)
        let last = try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            let last = try Self.start(way, client, "specimen")
            switch end {
            case .unload: #expect(try client.result("bridge.plugin.unload", ["name": "specimen"]) == [:])
            case .crash: #expect(try client.call("specimen", "crash")["error"]?["code"] == "plugin.crashed")
            case .kill:
                let process = try client.result("bridge.plugins")["plugins"]?.arrayValue?.first?["pid"]?.int64Value
                #expect(Glibc.kill(pid_t(try #require(process)), SIGKILL) == 0)
            case .stop: return last
            }
            try client.result("bridge.ping") { _ in !isAlive(last) }
            return last
        }
        #expect(!isAlive(last))
    }

    @Test("stay when the process of another plugin ends, and so do descendants of the daemon's own process")
    func others() throws {
        let folder = try TemporaryFolder()
        for name in ["first", "second", "third"] { try Self.plugin(name).build(in: folder) }
        let home = try DaemonHome("[plugins.third]\nisolation = \"none\"", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            let gone = try ["stay", "orphan"].map { try Self.start($0, client, "first") }
            let own = try ["stay", "orphan"].map { try Self.start($0, client, "second") }
            let daemons = try ["stay", "orphan"].map { try Self.start($0, client, "third") }
            defer { for last in daemons { _ = Glibc.kill(last, SIGKILL) } }
            #expect(try client.result("bridge.plugin.unload", ["name": "first"]) == [:])
            #expect(!gone.contains(where: isAlive))
            #expect((own + daemons).allSatisfy(isAlive))
            #expect(try client.result("bridge.plugin.unload", ["name": "second"]) == [:])
            #expect(!own.contains(where: isAlive))
            #expect(daemons.allSatisfy(isAlive))
        }
    }

    @Test("end in time, even if another plugin leaves processes behind without end")
    func flood() throws {
        let folder = try TemporaryFolder()
        try Self.plugin("specimen").build(in: folder)
        try PluginInC(
            name: "flooder", task: "flooder",
            call: """
                host->reply(host, request->call, text("true"));
                if (fork() == 0) {
                    for (;;) {
                        pid_t child = fork();
                        if (child == 0) {
                            if (fork() == 0) setsid();
                            _exit(0);
                        }
                        waitpid(child, NULL, 0);
                    }
                }
                """, definitions: "#include <sys/wait.h>\n#include <unistd.h>"
        ).build(in: folder)
        try withDaemon(in: try DaemonHome(pluginDirectory: folder.path)) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("flooder") == true)
            for _ in 0..<3 {
                let last = try Self.start("stay", client, "specimen")
                #expect(try client.call("specimen", "crash")["error"]?["code"] == "plugin.crashed")
                try awaitEnd(of: last)
                try client.result("bridge.plugins") {
                    $0["plugins"]?.arrayValue?.allSatisfy { $0["state"] == "running" } == true
                }
            }
            #expect(try client.result("bridge.plugin.unload", ["name": "flooder"]) == [:])
            try client.result("bridge.ping") { _ in (try? children(of: daemon.pid).count) == 1 }
        }
    }

    private static func start(_ way: JSON, _ client: Wire, _ task: String) throws -> pid_t {
        let last = pid_t(try client.result(task, way).int64Value ?? -1)
        try #require(last > 1)
        #expect(isAlive(last))
        return last
    }
}
