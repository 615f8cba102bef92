import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Control groups of plugin processes, in a daemon whose own group is delegated to it. ``DescendantTests`` covers the
/// behaviour that does not depend on control groups.
@Suite(
    "The control group of a plugin process", .blocking,
    .enabled(if: DelegatedGroup.isPossible, "needs root and a cgroup v2 in which groups can be made"))
struct ControlGroupTests {
    /// Starts processes that fork without end. Each runs for a moment, in its own session and without a parent, with
    /// the limit that the options specify, and holds the write end of the pipe at `fifo`.
    private static func chain(_ name: String, _ fifo: String) -> PluginInC {
        PluginInC(
            name: name, task: name,
            call: """
                char digits[32];
                trestle_bytes options = request->options;
                snprintf(digits, sizeof digits, "%.*s", (int)options.size, (const char *)options.data);
                struct rlimit limit = {strtoull(digits, NULL, 10), strtoull(digits, NULL, 10)};
                int held = open("\(fifo)", O_WRONLY);
                pid_t first = fork();
                if (first == 0) {
                    prctl(PR_SET_PDEATHSIG, 0);
                    if (setrlimit(RLIMIT_RTTIME, &limit) != 0) _exit(1);
                    for (int file = 3; file < 256; file++) if (file != held) close(file);
                    unsetenv("TRESTLE_PLUGIN");
                    if (fork() != 0) _exit(0);
                    for (time_t end = time(NULL) + 60; time(NULL) < end;) {
                        setsid();
                        if (fork() > 0) _exit(0);
                        usleep(500);
                    }
                    _exit(0);
                }
                close(held);
                int status = 1;
                waitpid(first, &status, 0);
                host->reply(host, request->call, text(held >= 0 && status == 0 ? "true" : "false"));
                """,
            definitions: """
                #define _GNU_SOURCE
                #include <fcntl.h>
                #include <stdio.h>
                #include <stdlib.h>
                #include <sys/prctl.h>
                #include <sys/resource.h>
                #include <sys/wait.h>
                #include <time.h>
                #include <unistd.h>
                """)
    }

    @Test(
        "ends descendants that fork without end and carry another plugin's mark", arguments: ["unload", "crash"])
    func chain(end: String) throws {
        let group = try DelegatedGroup()
        let folder = try TemporaryFolder()
        let fifo = folder.file("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        for name in ["first", "second"] { try Self.chain(name, fifo).build(in: folder) }
        let reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try withDaemon(in: try Self.home(group, folder)) { daemon in
            let client = try daemon.connect()
            // A limit can only be lowered, so the mark of the other plugin must be the lower one.
            let marks = try ["first", "second"].map { ($0, try Self.mark(of: try Self.process($0, client))) }
            let (other, (name, _)) = marks[0].1 < marks[1].1 ? (marks[0], marks[1]) : (marks[1], marks[0])
            #expect(try client.result(name, .number(JSONNumber(other.1))) == true)
            let process = try Self.process(name, client)
            let chain = try Self.group(of: process, in: group)
            // Ended processes are reaped by a sweep that has skipped the others.
            let deadline = Deadline()
            let before = group.members(of: chain).filter { $0 != process }
            while before.contains(where: { exists("/proc/\($0)") }), !deadline.isOver { poll(nil, 0, 5) }
            try #require(!Self.hasHungUp(reader))
            if end == "unload" {
                #expect(try client.result("bridge.plugin.unload", ["name": .string(name)]) == [:])
            } else {
                _ = Glibc.kill(process, SIGKILL)
                try client.result("bridge.plugins") {
                    !group.groups.contains(chain)
                        && $0["plugins"]?.arrayValue?.allSatisfy { $0["state"] == "running" } == true
                }
            }
            #expect(Self.hasHungUp(reader))
            #expect(!group.groups.contains(chain))
            #expect(isAlive(try Self.process(other.0, client)))
        }
        #expect(group.groups == [])
    }

    @Test("contains only that process and is removed with it")
    func members() throws {
        let group = try DelegatedGroup()
        let folder = try TemporaryFolder()
        for name in ["first", "second", "third"] { try PluginInC(name: name, task: name).build(in: folder) }
        let home = try Self.home(group, folder, "[plugins.third]\nisolation = \"none\"")
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            // The third plugin has sent its name from a process that has ended.
            try client.result("bridge.ping") { _ in group.groups.count == 2 }
            let names = try ["first", "second"].map { name in
                let process = try Self.process(name, client)
                let own = try Self.group(of: process, in: group)
                #expect(group.members(of: own) == [process])
                return own
            }
            #expect(Set(group.groups) == Set(names))
            #expect(group.members(of: "") == [daemon.pid])
            #expect(daemon.log.contains("each plugin process gets a control group of its own in \(group.path)"))
            #expect(try client.result("bridge.plugin.unload", ["name": "first"]) == [:])
            #expect(group.groups == [names[1]])
        }
        #expect(group.groups == [])
    }

    @Test("of an earlier daemon is removed if it is empty; otherwise its name is skipped")
    func leftovers() throws {
        let group = try DelegatedGroup()
        for name in ["plugin-1", "plugin-2", "plugin-x", "other"] { try group.make(name) }
        let folder = try TemporaryFolder()
        try PluginInC().build(in: folder)
        let sleeper = try SpawnedProcess(try group.entering("/bin/sleep", group: "plugin-2", in: folder), ["300"])
        let deadline = Deadline()
        while group.members(of: "plugin-2") == [], !deadline.isOver { poll(nil, 0, 5) }
        let home = try Self.home(group, folder)
        try withDaemon(in: home) { _ in #expect(group.groups == ["other", "plugin-1", "plugin-2", "plugin-x"]) }
        #expect(isAlive(sleeper.pid))
        #expect(group.groups == ["other", "plugin-2", "plugin-x"])
    }

    @Test("is not created if the group of the daemon is not delegated")
    func notDelegated() throws {
        let group = try DelegatedGroup(isDelegated: false)
        let folder = try TemporaryFolder()
        try PluginInC().build(in: folder)
        try withDaemon(in: try Self.home(group, folder)) { daemon in
            let process = try Self.process("specimen", try daemon.connect())
            #expect(group.groups == [])
            #expect(Set(group.members(of: "")) == [daemon.pid, process])
        }
    }

    private static func home(
        _ group: DelegatedGroup, _ folder: TemporaryFolder, _ configuration: String = ""
    ) throws -> DaemonHome {
        let home = try DaemonHome(configuration, pluginDirectory: folder.path)
        home.program = try group.entering(home.program, in: home.folder)
        return home
    }

    private static func process(_ plugin: String, _ client: Wire) throws -> pid_t {
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        let found = plugins.first { $0["name"] == .string(plugin) }
        return pid_t(try #require(found?["pid"]?.int64Value))
    }

    /// Returns the hard limit by which the daemon recognises the descendants of a plugin process.
    private static func mark(of process: pid_t) throws -> Int64 {
        let limits = contents(of: "/proc/\(process)/limits").split(separator: "\n")
        let line = try #require(limits.first { $0.hasPrefix("Max realtime timeout") })
        return try #require(Int64(line.split(separator: " ")[4]))
    }

    private static func group(of process: pid_t, in group: DelegatedGroup) throws -> String {
        try #require(group.groups.first { group.members(of: $0).contains(process) })
    }

    /// Whether the other end of a pipe is closed everywhere.
    private static func hasHungUp(_ reader: Int32) -> Bool {
        var watched = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 1 && watched.revents & Int16(POLLHUP) != 0
    }
}
