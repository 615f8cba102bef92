import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A plugin process", .blocking)
struct PluginProcessTests {
    func withPluginProcess<R>(
        _ process: PluginInPython, _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        let folder = try TemporaryFolder()
        try process.write(to: folder)
        return try withDaemon(pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    func plugin(_ client: Wire) throws -> JSON? { try client.result("bridge.plugins")["plugins"]?[0] }

    private func error(_ callback: JSON) -> JSON? { callback["error"] }

    // MARK: Valid processes

    @Test("provides its tasks: it receives options and caller, and sends results, errors and progress")
    func calls() throws {
        var process = PluginInPython()
        process.call = """
            if m["options"] == "who": say({"callbackId": id, "result": m["caller"]["uid"]})
            elif m["options"] == "fail": say({"callbackId": id, "error": {"code": "door.locked", "message": "It is locked."}})
            elif m["options"] == "slow":
                say({"callbackId": id, "progress": 1})
                say({"callbackId": id, "progress": 2})
                say({"callbackId": id, "result": m.get("timeout", 0) > 0})
            else: say({"callbackId": id, "result": m["options"]})
            """
        try withPluginProcess(process) { _, client in
            #expect(try client.result("specimen", ["a": [1, 2.50]]) == ["a": [1, 2.50]])
            #expect(try client.result("specimen", "who") == .number(JSONNumber(UInt64(getuid()))))
            #expect(
                try client.call("specimen", "fail")["error"] == ["code": "door.locked", "message": "It is locked."])
            try client.send(#"{"task":"specimen","options":"slow","callbackId":1,"progress":true,"timeout":5000}"#)
            #expect(try client.receive() == ["callbackId": 1, "progress": 1, "sequence": 0])
            #expect(try client.receive() == ["callbackId": 1, "progress": 2, "sequence": 1])
            #expect(try client.receive() == ["callbackId": 1, "result": true])
            #expect(try plugin(client)?["isolation"] == "process")
        }
    }

    @Test("declares itself what its manifest omits, and receives its section of the configuration")
    func hello() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            #!/bin/sh
            exec <&3 >&3
            while read -r m; do
                id=$(printf '%s' "$m" | sed 's/.*"callbackId":\\([0-9]*\\).*/\\1/')
                case $m in
                *plugin.hello*) r='{"version":"7","tasks":[{"name":"given","summary":"Given.","options":{"type":"integer"}}]}' ;;
                *plugin.configure*) r='{}'; c=$m ;;
                *'"given"'*) r=$(printf '%s' "$c" | sed 's/.*"options":\\(.*\\)}$/\\1/') ;;
                *) r='{}' ;;
                esac
                printf '{"callbackId":%s,"result":%s}\\n' "$id" "$r"
            done
            """, to: "given.sh")
        chmod(folder.file("given.sh"), 0o755)
        try folder.write("command = [\"./given.sh\"]", to: "given.plugin.toml")
        try withDaemon("[plugins.given]\ncolour = \"red\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("given", 1) == ["colour": "red"])
            #expect(try client.call("given", "no")["error"]?["code"] == "options.invalid")
            #expect(try plugin(client)?["version"] == "7")
        }
    }

    @Test("calls tasks on behalf of its caller, publishes events, and sends metrics and log lines")
    func ownCalls() throws {
        var process = PluginInPython()
        process.call = """
            say({"task": "plugin.log", "options": {"level": "warning", "message": "from the worker", "call": id}})
            say({"task": "plugin.metrics", "options": {"metrics": [{"name": "seen", "kind": "counter", "value": 3}]}})
            say({"task": "plugin.publish", "options": {"event": "specimen.seen", "data": 5}})
            say({"task": "specimen.good", "options": "inner", "callbackId": "a", "caller": id})
            while True:
                answer = json.loads(lines.readline())
                if answer.get("task") == "specimen.good": say({"callbackId": answer["callbackId"], "result": answer["caller"]["uid"]})
                if answer.get("callbackId") == "a": break
            print("on standard output", flush=True)
            say({"callbackId": id, "result": answer["result"]})
            """
        try withPluginProcess(process) { daemon, client in
            _ = try client.result("bridge.subscribe", ["events": ["specimen.*"]])
            try client.send(#"{"task":"specimen","callbackId":1}"#)
            #expect(try client.receive() == ["event": "specimen.seen", "data": 5])
            #expect(try client.receive() == ["callbackId": 1, "result": .number(JSONNumber(UInt64(getuid())))])
            let metrics = try client.result("bridge.status")["metrics"]?[0]
            #expect(metrics?["name"] == "seen" && metrics?["value"] == 3)
            try daemon.awaitLog("from the worker", client)
            try daemon.awaitLog("on standard output", client)
        }
    }

    // MARK: Faults

    @Test("that crashes fails its own calls at once; calls not yet sent to it wait for its next start")
    func crash() throws {
        var process = PluginInPython(call: "os.kill(os.getpid(), signal.SIGSEGV)")
        process.settings = ""
        try withPluginProcess(process) { _, client in
            _ = try client.result("bridge.subscribe", ["events": ["plugin.*"]])
            try client.send(#"{"task":"specimen","callbackId":1}"#)
            let lost = try client.receive()
            #expect(lost["callbackId"] == 1 && error(lost)?["code"] == "plugin.crashed")
            #expect(error(lost)?["data"]?["signal"] == 11 && error(lost)?["data"]?["started"] == true)
            #expect(error(lost)?["transient"] == true)
            #expect(try client.receive()["event"] == "plugin.crashed")
            try client.send(#"{"task":"specimen.good","options":"later","callbackId":2}"#)
            #expect(try client.receive()["event"] == "plugin.started")
            #expect(try client.receive() == ["callbackId": 2, "result": "later"])
            #expect(try plugin(client)?["restarts"] == 1)
        }
    }

    @Test("that crashes repeatedly is abandoned, and bridge.plugin.reload starts it again")
    func crashLoop() throws {
        try withPluginProcess(PluginInPython(call: "os._exit(3)")) { _, client in
            for round in 1...5 {
                let error = error(try client.call("specimen"))
                #expect(error?["code"] == "plugin.crashed" && error?["data"]?["exit"] == 3, "\(round)")
            }
            #expect(error(try client.call("specimen"))?["code"] == "plugin.unavailable")
            #expect(try plugin(client)?["state"] == "unavailable")
            #expect(try client.result("bridge.plugin.reload", ["name": "specimen"])["version"] == "1")
            #expect(try client.result("specimen.good", 1) == 1)
        }
    }

    @Test(
        "that sends an invalid message is killed, and its calls fail",
        arguments: [
            #"f.write("garbage\n"); f.flush(); signal.pause()"#,
            #"s.sendall(b"x" * (2 << 20)); signal.pause()"#,
            #"s.sendall(b"\xff\xfe\n"); signal.pause()"#,
            #"f.write("{\"callbackId\":"); f.flush(); os._exit(0)"#,
        ])
    func garbage(call: String) throws {
        try withPluginProcess(PluginInPython(call: call)) { _, client in
            let error = error(try client.call("specimen"))
            #expect(error?["code"] == "plugin.crashed", "\(error ?? nil)")
            #expect(try client.result("specimen.good", 1) == 1)
        }
    }

    @Test("that does not read the answers to its calls is killed before they fill the daemon's memory")
    func unreadAnswers() throws {
        let folder = try TemporaryFolder()
        try PluginInPython(name: "long", call: #"say({"callbackId": id, "result": "x" * 900_000})"#).write(to: folder)
        let deaf = """
            for n in range(150): say({"task": "long", "callbackId": n})
            signal.pause()
            """
        try PluginInPython(call: deaf).write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let error = error(try client.call("specimen"))
            #expect(error?["code"] == "plugin.crashed")
            #expect(error?["data"]?["reason"]?.stringValue?.contains("does not read") == true, "\(error ?? nil)")
            #expect(try client.result("specimen.good", 1) == 1)
        }
    }

    @Test("that answers twice, or without a call, affects no other call")
    func strayAnswers() throws {
        let process = PluginInPython(
            call: #"[say({"callbackId": n, "result": n}) for n in (id, id, 999, "x")]"#)
        try withPluginProcess(process) { _, client in
            try client.send(#"{"task":"specimen","callbackId":"c"}"#)
            #expect(try client.receive()["callbackId"] == "c")
            // The other answers follow.
            try client.result("bridge.status") { $0["droppedReplies"] == 3 }
        }
    }

    @Test("that leaves a child process ends together with it")
    func leftBehind() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("pid")
        let process = PluginInPython(
            call: """
                (is_written, written) = os.pipe()
                if os.fork() == 0:
                    open("\(file)", "w").write(str(os.getpid()))
                    os.write(written, b"x")
                    signal.pause()
                os.read(is_written, 1)
                os._exit(0)
                """)
        try withPluginProcess(process) { _, client in
            #expect(error(try client.call("specimen"))?["code"] == "plugin.crashed")
            let pid = try #require(Int32(contents(of: file)))
            try awaitEnd(of: pid)
            // An ended process that is not reaped remains as a zombie.
            #expect(kill(pid, 0) != 0 || contents(of: "/proc/\(pid)/stat").contains(") Z "))
        }
    }

    @Test("inherits only its socket, and has the limits of its manifest")
    func inheritance() throws {
        var process = PluginInPython()
        process.settings = """
            environment = { COLOUR = "red" }
            limits = { descriptors = 50, memory = "1GiB" }
            """
        process.call = """
            import resource
            open_files = sorted(int(n) for n in os.listdir("/proc/self/fd"))
            say({"callbackId": id, "result": [
                [n for n in open_files if n <= 3 or os.path.exists(f"/proc/self/fd/{n}")], sorted(os.environ),
                resource.getrlimit(resource.RLIMIT_NOFILE)[0], resource.getrlimit(resource.RLIMIT_AS)[0],
                resource.getrlimit(resource.RLIMIT_CORE)[0], os.getsid(0) == os.getpid()]})
            """
        try withPluginProcess(process) { _, client in
            let seen = try client.result("specimen")
            #expect(seen[0] == [0, 1, 2, 3])
            // A python that is a shell script, as with version managers, adds its own variables.
            let others = ["PYENV", "_", "SHLVL", "PWD", "OLDPWD"]
            let names = (seen[1]?.arrayValue?.compactMap(\.stringValue) ?? []).filter { name in
                !others.contains { name.hasPrefix($0) }
            }
            #expect(
                Set(names).isSubset(of: [
                    "COLOUR", "LANG", "LC_CTYPE", "PATH", "PYTHONPATH", "TRESTLE_PLUGIN", "TRESTLE_PLUGIN_FD", "TZ",
                ]))
            #expect(names.contains("COLOUR") && names.contains("TRESTLE_PLUGIN_FD"))
            #expect(seen[2] == 50 && seen[3] == .number(JSONNumber(1 << 30)) && seen[4] == 0 && seen[5] == true)
        }
    }

    @Test("ends with the daemon, even if it ignores SIGTERM")
    func end() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("pid")
        for deaf in [false, true] {
            let start =
                "open(\"\(file)\", \"w\").write(str(os.getpid()))"
                + (deaf ? "; signal.signal(signal.SIGTERM, signal.SIG_IGN)" : "")
            var process = PluginInPython(start: start)
            if deaf { process.call = "signal.pause()" }
            try withPluginProcess(process) { daemon, client in
                if deaf { try client.send(#"{"task":"specimen"}"#) }
                _ = try client.result("bridge.ping")
                let pid = try #require(Int32(contents(of: file)))
                #expect(try daemon.stop() == .exited(0))
                #expect(kill(pid, 0) != 0 || contents(of: "/proc/\(pid)/stat").contains(") Z "))
            }
        }
    }
}
