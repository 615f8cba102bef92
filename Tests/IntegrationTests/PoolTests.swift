import BridgeJSON
import Glibc
import Testing

@Suite("A pool of a plugin's processes", .blocking)
struct PoolTests {
    /// A worker that answers with its process's id; its options say how many milliseconds later.
    private func worker(_ pool: String) -> WorkerInPython {
        var worker = WorkerInPython(settings: "[pool]\n\(pool)")
        worker.start = "state = []"
        worker.call = """
            o = m["options"]
            if o == "crash": os._exit(3)
            if o == "grow": state.append(bytearray(b"x" * (8 << 20)))
            elif o == "kept": return say({"callbackId": id, "result": len(state)})
            elif o == "keep": state.append(1)
            elif isinstance(o, int): time.sleep(o / 1000)
            say({"callbackId": id, "result": os.getpid()})
            """
        return worker
    }

    private func withPool<R>(
        _ worker: WorkerInPython, _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        let folder = try TemporaryFolder()
        try worker.write(to: folder)
        return try withDaemon(pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    /// What the pool says of itself, once it is as wanted.
    @discardableResult
    private func pool(_ client: Wire, until isWanted: (JSON) -> Bool = { _ in true }) throws -> JSON? {
        try client.result("bridge.plugins") { isWanted($0["plugins"]?[0]?["pool"] ?? .null) }["plugins"]?[0]?["pool"]
    }

    @Test("has as many as are to be there started ahead, by a launch worker, and tells what it has")
    func prewarmed() throws {
        try withPool(worker("min = 3\nmax = 4")) { _, client in
            let full = try pool(client) { $0["reusable"] == 3 }
            #expect(
                full == [
                    "min": 3, "max": 4, "per": "call", "reusable": 3, "inUse": 0, "starting": 0, "warmStarts": 0,
                    "coldStarts": 0, "recycled": 0,
                ])
            let status = try client.result("bridge.status")
            #expect(status["plugins"]?.arrayValue?.first { $0["name"] == "specimen" }?["pool"] == full)
            let launch = status["launch"]?.arrayValue ?? []
            #expect(launch.contains { $0["name"] == "plugin.specimen.prewarm" && $0["state"] == "done" })
            _ = try client.result("specimen")
            #expect(try pool(client)?["warmStarts"] == 1)
        }
    }

    @Test("gives each call a process for itself, starts others up to the most, and lets the rest wait")
    func most() throws {
        try withPool(worker("min = 1\nmax = 3")) { _, client in
            try pool(client) { $0["reusable"] == 1 }
            for id in 1...9 { try client.send(#"{"task":"specimen","options":100,"callbackId":\#(id)}"#) }
            var pids: Set<Int64> = []
            for _ in 1...9 { try pids.insert(#require(try client.receive()["result"]?.int64Value)) }
            #expect(pids.count == 3)
            let after = try pool(client) { $0["reusable"] == 3 }
            #expect(after?["coldStarts"] == 2 && after?["warmStarts"] == 7, "\(after ?? nil)")
        }
    }

    @Test("ends those beyond the fewest that nobody has needed for a while, and starts others when they are needed")
    func idle() throws {
        try withPool(worker("min = 1\nmax = 4\nidle = \"200ms\"")) { _, client in
            for _ in 1...2 {
                for id in 1...4 { try client.send(#"{"task":"specimen","options":300,"callbackId":\#(id)}"#) }
                let pids = try (1...4).map { _ in try client.receive()["result"]?.text }
                #expect(Set(pids).count > 1)
                try pool(client) { $0["reusable"] == 1 && $0["inUse"] == 0 && $0["starting"] == 0 }
            }
            #expect(try pool(client)?["recycled"] == 0)
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["restarts"] == 0)
        }
    }

    @Test("without any started ahead starts one for the call that needs it")
    func cold() throws {
        try withPool(worker("max = 1")) { _, client in
            _ = try #require(try client.result("specimen").int64Value)
            #expect(try pool(client)?["min"] == 0)
        }
    }

    @Test("has a process forget its last caller before the next one has it")
    func clean() throws {
        var worker = worker("min = 1\nmax = 1")
        worker.clean = "state.clear()"
        try withPool(worker) { _, client in
            let pid = try client.result("specimen", "keep")
            #expect(try client.result("specimen", "kept") == 0)
            #expect(try client.result("specimen") == pid)
        }
        // One that does not know how is given on as it is.
        try withPool(self.worker("min = 1\nmax = 1")) { _, client in
            _ = try client.result("specimen", "keep")
            #expect(try client.result("specimen", "kept") == 1)
        }
    }

    @Test("kills a process that does not get clean, and calls go on")
    func dirty() throws {
        var worker = worker("min = 1\nmax = 1")
        worker.clean = #"return say({"callbackId": id, "error": {"code": "x.stuck", "message": "It is stuck."}})"#
        try withPool(worker) { daemon, client in
            let first = try client.result("specimen")
            #expect(try client.result("specimen") != first)
            #expect(daemon.log.contains("cannot be cleaned: It is stuck."))
        }
    }

    @Test("replaces a process that was given away so often, or has grown so much")
    func worn() throws {
        try withPool(worker("min = 1\nmax = 1\nuses = 2")) { _, client in
            let pids = try (0..<6).map { _ in try client.result("specimen") }
            #expect(pids[0] == pids[1] && pids[2] == pids[3] && pids[4] == pids[5], "\(pids)")
            #expect(Set(pids.map(\.text)).count == 3)
            try pool(client) { $0["recycled"] == 3 }
        }
        try withPool(worker("min = 1\nmax = 1\ngrowth = \"4MiB\"")) { _, client in
            let pid = try client.result("specimen")
            #expect(try client.result("specimen", "grow") == pid)
            #expect(try client.result("specimen") != pid)
            #expect(try pool(client)?["recycled"] == 1)
        }
    }

    @Test("gives a process to a session from its first call to its end, and then to another")
    func perSession() throws {
        var worker = worker("min = 1\nmax = 2\nper = \"session\"")
        worker.clean = "state.clear()"
        try withPool(worker) { daemon, client in
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

    @Test("loses only the call of the process that crashed; the others go on, and another one is started")
    func crash() throws {
        try withPool(worker("min = 2\nmax = 2")) { _, client in
            try pool(client) { $0["reusable"] == 2 }
            try client.send(#"{"task":"specimen","options":200,"callbackId":1}"#)
            try client.send(#"{"task":"specimen","options":"crash","callbackId":2}"#)
            try client.send(#"{"task":"specimen","options":0,"callbackId":3}"#)
            var ends: [JSON: JSON] = [:]
            for _ in 1...3 {
                let callback = try client.receive()
                ends[callback["callbackId"] ?? .null] = callback
            }
            #expect(ends[1]?["result"] != nil && ends[3]?["result"] != nil, "\(ends)")
            #expect(ends[2]?["error"]?["code"] == "plugin.crashed")
            try pool(client) { $0["reusable"] == 2 }
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["state"] == "running")
        }
    }

    @Test("whose processes crash again and again is given up, and a reload brings it back")
    func crashLoop() throws {
        try withPool(worker("min = 2\nmax = 2")) { _, client in
            var codes: [String] = []
            while codes.last != "plugin.unavailable", codes.count < 10 {
                codes.append(try client.call("specimen", "crash")["error"]?["code"]?.stringValue ?? "none")
            }
            #expect(
                codes.dropLast().allSatisfy { $0 == "plugin.crashed" } && codes.last == "plugin.unavailable", "\(codes)"
            )
            #expect(try client.result("bridge.plugin.reload", ["name": "specimen"])["name"] == "specimen")
            _ = try #require(try client.result("specimen").int64Value)
        }
    }

    @Test("is replaced as a whole without losing a call")
    func reload() throws {
        try withPool(worker("min = 2\nmax = 3")) { _, client in
            for round in 0..<5 {
                for id in 0..<20 { try client.send(#"{"task":"specimen","options":5,"callbackId":\#(id)}"#) }
                try client.send(#"{"task":"bridge.plugin.reload","options":{"name":"specimen"},"callbackId":"r"}"#)
                for id in 20..<40 { try client.send(#"{"task":"specimen","options":5,"callbackId":\#(id)}"#) }
                let callbacks = try (0..<41).map { _ in try client.receive() }
                #expect(callbacks.allSatisfy { $0["result"] != nil }, "\(round): \(callbacks)")
                #expect(Set(callbacks.compactMap { $0["callbackId"]?.text }).count == 41)
            }
        }
    }

    @Test("of a library is what its section says")
    func library() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.definitions = "#include <stdio.h>\n#include <unistd.h>"
        plugin.call = """
            char id[16]; snprintf(id, sizeof id, "%d", getpid()); usleep(50000);
            host->reply(host, request->call, text(id));
            """
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\npool = { min = 2, max = 2 }"
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try pool(client) { $0["reusable"] == 2 }
            for id in 1...4 { try client.send(#"{"task":"specimen","callbackId":\#(id)}"#) }
            let pids = try (1...4).map { _ in try client.receive()["result"]?.text }
            #expect(Set(pids).count == 2)
        }
    }

    @Test(
        "whose settings make no sense is refused with their place",
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
        try WorkerInPython().write(to: folder)
        let home = try DaemonHome("[plugins.specimen]\n\(line)", pluginDirectory: folder.path)
        let daemon = try DaemonProcess(in: home)
        #expect(try daemon.wait() == .exited(78))
        #expect(daemon.log.contains("trestled.toml:2:") && daemon.log.contains("\(key): expected "), "\(daemon.log)")
    }

    @Test("of a plugin in the daemon's own process is refused: there are no processes of it")
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
