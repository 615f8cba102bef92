import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A pool of plugin processes", .blocking)
struct PoolTests {
    /// Returns a plugin that answers with its process ID. If the options are the path of a gate, it first waits there.
    func pluginProcess(_ pool: String) -> PluginInPython {
        var process = PluginInPython(settings: "[pool]\n\(pool)")
        process.start = "state = []"
        process.call = """
            o = m["options"]
            if o == "crash": os._exit(3)
            if o == "grow": state.append(bytearray(b"x" * (8 << 20)))
            elif o == "kept": return say({"callbackId": id, "result": len(state)})
            elif o == "keep": state.append(1)
            elif isinstance(o, str): fcntl.flock(open(o), fcntl.LOCK_SH)
            say({"callbackId": id, "result": os.getpid()})
            """
        return process
    }

    func withPool<R>(
        _ process: PluginInPython, _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        let folder = try TemporaryFolder()
        try process.write(to: folder)
        return try withDaemon(pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    /// Calls the task once for each id; the calls wait at the gate.
    func sendCalls(_ numbers: some Sequence<Int>, at gate: Gate, _ client: Wire) throws {
        for id in numbers {
            try client.send([
                "task": "specimen", "options": .string(gate.path), "callbackId": .number(JSONNumber(id)),
            ])
        }
    }

    /// Returns the state of the pool in bridge.plugins, as soon as it satisfies the condition.
    @discardableResult
    func pool(_ client: Wire, until isWanted: (JSON) -> Bool = { _ in true }) throws -> JSON? {
        try client.result("bridge.plugins") { isWanted($0["plugins"]?[0]?["pool"] ?? .null) }["plugins"]?[0]?["pool"]
    }

    @Test("starts its minimum of processes in advance, by a launch worker, and reports them")
    func prewarmed() throws {
        try withPool(pluginProcess("min = 3\nmax = 4")) { _, client in
            let full = try pool(client) { $0["reusable"] == 3 }
            #expect(
                full == [
                    "min": 3, "max": 4, "per": "call", "reusable": 3, "inUse": 0, "starting": 0, "warmStarts": 0,
                    "coldStarts": 0, "recycled": 0,
                ])
            let status = try client.result("bridge.status")
            #expect(status["plugins"]?.arrayValue?.first { $0["name"] == "specimen" }?["pool"] == full)
            _ = try client.result("bridge.status") { status in
                let launch = status["launch"]?.arrayValue ?? []
                return launch.contains { $0["name"] == "plugin.specimen.prewarm" && $0["state"] == "done" }
            }
            _ = try client.result("specimen")
            #expect(try pool(client)?["warmStarts"] == 1)
        }
    }

    @Test("gives each call its own process, starts others up to the maximum, and lets other calls wait")
    func maximum() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        try withPool(pluginProcess("min = 1\nmax = 3")) { _, client in
            try pool(client) { $0["reusable"] == 1 }
            try sendCalls(1...9, at: gate, client)
            try pool(client) { $0["inUse"] == 3 }
            gate.open()
            var pids: Set<Int64> = []
            for _ in 1...9 { try pids.insert(#require(try client.receive()["result"]?.int64Value)) }
            #expect(pids.count <= 3)
            let after = try pool(client) { $0["reusable"] == 3 }
            #expect(after?["coldStarts"]?.int64Value ?? 0 <= 2, "\(after ?? nil)")
            #expect((after?["coldStarts"]?.int64Value ?? 0) + (after?["warmStarts"]?.int64Value ?? 0) == 9)
        }
    }

    @Test("ends processes above the minimum after an idle time, and starts others when they are needed")
    func idle() throws {
        let folder = try TemporaryFolder()
        try withPool(pluginProcess("min = 1\nmax = 4\nidle = \"200ms\"")) { _, client in
            for _ in 1...2 {
                let gate = try Gate(in: folder)
                try sendCalls(1...4, at: gate, client)
                try pool(client) { $0["inUse"]?.int64Value ?? 0 >= 2 }
                gate.open()
                let pids = try (1...4).map { _ in try client.receive()["result"]?.text }
                #expect(Set(pids).count > 1)
                try pool(client) { $0["reusable"] == 1 && $0["inUse"] == 0 && $0["starting"] == 0 }
            }
            #expect(try pool(client)?["recycled"] == 0)
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["restarts"] == 0)
        }
    }

    @Test("without a minimum starts a process for the first call")
    func cold() throws {
        try withPool(pluginProcess("max = 1")) { _, client in
            _ = try #require(try client.result("specimen").int64Value)
            #expect(try pool(client)?["min"] == 0)
        }
    }

    @Test("cleans a process between two callers")
    func clean() throws {
        var process = pluginProcess("min = 1\nmax = 1")
        process.clean = "state.clear()"
        try withPool(process) { _, client in
            let pid = try client.result("specimen", "keep")
            #expect(try client.result("specimen", "kept") == 0)
            #expect(try client.result("specimen") == pid)
        }
        // A process that does not implement this is reused as it is.
        try withPool(pluginProcess("min = 1\nmax = 1")) { _, client in
            _ = try client.result("specimen", "keep")
            #expect(try client.result("specimen", "kept") == 1)
        }
    }

    @Test("kills a process that fails to clean itself, and calls continue")
    func dirty() throws {
        var process = pluginProcess("min = 1\nmax = 1")
        process.clean = #"return say({"callbackId": id, "error": {"code": "x.stuck", "message": "It is stuck."}})"#
        try withPool(process) { daemon, client in
            let first = try client.result("specimen")
            #expect(try client.result("specimen") != first)
            #expect(daemon.log.contains("cannot be cleaned: It is stuck."))
        }
    }

    @Test("replaces a process after the maximum of uses or growth")
    func worn() throws {
        try withPool(pluginProcess("min = 1\nmax = 1\nuses = 2")) { _, client in
            let pids = try (0..<6).map { _ in try client.result("specimen") }
            #expect(pids[0] == pids[1] && pids[2] == pids[3] && pids[4] == pids[5], "\(pids)")
            #expect(Set(pids.map(\.text)).count == 3)
            try pool(client) { $0["recycled"] == 3 }
        }
        try withPool(pluginProcess("min = 1\nmax = 1\ngrowth = \"4MiB\"")) { _, client in
            let pid = try client.result("specimen")
            #expect(try client.result("specimen", "grow") == pid)
            #expect(try client.result("specimen") != pid)
            #expect(try pool(client)?["recycled"] == 1)
        }
    }

    @Test("reserves a process for a session from its first call to its end, then for another session")
    func perSession() throws {
        var process = pluginProcess("min = 1\nmax = 2\nper = \"session\"")
        process.clean = "state.clear()"
        try withPool(process) { daemon, client in
            try pool(client) { $0["reusable"] == 1 }
            let mine = try client.result("specimen", "keep")
            #expect(try client.result("specimen", "kept") == 1)
            let other = try daemon.connect()
            let theirs = try other.result("specimen", "keep")
            #expect(theirs != mine)
            #expect(try client.result("specimen") == mine)
            #expect(try other.result("specimen") == theirs)
            let third = try daemon.connect()
            try third.send(#"{"task":"specimen","options":"kept","callbackId":1}"#)
            #expect(try pool(client)?["inUse"] == 2)
            other.close()
            #expect(try third.receive() == ["callbackId": 1, "result": 0])
            #expect(try third.result("specimen") == theirs)
            #expect(try client.result("specimen", "kept") == 1)
        }
    }

    @Test("notifies each process of the open sessions after its start, and not before")
    func sessions() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        var process = pluginProcess("min = 1\nmax = 2")
        process.hello = #"{"sessions": True}"#
        process.other = """
            if task == "plugin.start": state.append("start")
            if m.get("event") == "plugin.session": state.append(m["data"]["change"])
            if task == "specimen" and m["options"] == "heard":
                task = ""
                \(gate.python)
                say({"callbackId": id, "result": state})
            """
        try withPool(process) { daemon, client in
            try pool(client) { $0["reusable"] == 1 }
            let others = try (0..<3).map { _ in try daemon.connect() }
            for other in others { _ = try other.result("bridge.ping") }
            for id in 1...2 { try client.send(#"{"task":"specimen","options":"heard","callbackId":\#(id)}"#) }
            try pool(client) { $0["inUse"] == 2 }
            gate.open()
            let heard = try (1...2).compactMap { _ in try client.receive()["result"]?.arrayValue }
            for news in heard {
                #expect(news.first == "start")
                #expect(news.count { $0 == "opened" } - news.count { $0 == "closed" } == 4, "\(news)")
            }
            #expect(heard.count == 2)
        }
    }

    @Test(
        "with invalid settings is refused, and the error names the setting",
        arguments: [
            ("pool = 3", "plugins.specimen.pool"), ("pool = { min = 1 }", "plugins.specimen.pool.max"),
            ("pool = { max = 0 }", "plugins.specimen.pool.max"),
            ("pool = { min = 3, max = 2 }", "plugins.specimen.pool.min"),
            ("pool = { max = 2, per = \"page\" }", "plugins.specimen.pool.per"),
            ("pool = { max = 2, uses = 0 }", "plugins.specimen.pool.uses"),
            ("pool = { max = 2, growth = \"much\" }", "plugins.specimen.pool.growth"),
            ("pool = { max = 2, idle = \"0s\" }", "plugins.specimen.pool.idle"),
            ("pool = { max = 2, size = 1 }", "plugins.specimen.pool.size"),
        ])
    func badSettings(line: String, key: String) throws {
        let folder = try TemporaryFolder()
        try PluginInPython().write(to: folder)
        let home = try DaemonHome("[plugins.specimen]\n\(line)", pluginDirectory: folder.path)
        let daemon = try DaemonProcess(in: home)
        #expect(try daemon.wait() == .exited(78))
        #expect(daemon.log.contains("trestled.toml:2:") && daemon.log.contains("\(key): expected "), "\(daemon.log)")
    }

    @Test("of a plugin in the daemon's own process is refused, since this has no processes")
    func inProcess() throws {
        let folder = try TemporaryFolder()
        try PluginInC().build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"none\"\npool = { max = 2 }"
        let daemon = try DaemonProcess(in: DaemonHome(section, pluginDirectory: folder.path))
        #expect(try daemon.wait() == .exited(78))
        #expect(
            daemon.log.contains("plugins.specimen.pool: expected isolation = \"process\" beside it"), "\(daemon.log)")
    }
}
