import BridgeJSON
import Glibc
import TestSupport
import Testing

extension PoolTests {
    @Test("loses only the call of the process that crashed; the others continue, and a new process starts")
    func crash() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        try withPool(pluginProcess("min = 2\nmax = 2")) { _, client in
            try pool(client) { $0["reusable"] == 2 }
            try sendCalls([1], at: gate, client)
            try client.send(#"{"task":"specimen","options":"crash","callbackId":2}"#)
            try client.send(#"{"task":"specimen","callbackId":3}"#)
            let crashed = try client.receive { $0["callbackId"] == 2 }
            #expect(crashed["error"]?["code"] == "plugin.crashed", "\(crashed)")
            gate.open()
            let others = try [client.receive(), client.receive()]
            #expect(others.allSatisfy { $0["result"] != nil }, "\(others)")
            try pool(client) { $0["reusable"] == 2 }
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["state"] == "running")
        }
    }

    @Test("whose processes crash repeatedly is abandoned, and a reload starts it again")
    func crashLoop() throws {
        try withPool(pluginProcess("min = 2\nmax = 2")) { _, client in
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
        let folder = try TemporaryFolder()
        try withPool(pluginProcess("min = 2\nmax = 3")) { _, client in
            for round in 0..<5 {
                let gate = try Gate(in: folder)
                try sendCalls(0..<20, at: gate, client)
                try client.send(#"{"task":"bridge.plugin.reload","options":{"name":"specimen"},"callbackId":"r"}"#)
                try sendCalls(20..<40, at: gate, client)
                // When this call is answered, the daemon has received all calls.
                _ = try client.result("bridge.ping")
                gate.open()
                let callbacks = try (0..<41).map { _ in try client.receive() }
                #expect(callbacks.allSatisfy { $0["result"] != nil }, "\(round): \(callbacks)")
                #expect(Set(callbacks.compactMap { $0["callbackId"]?.text }).count == 41)
            }
        }
    }

    @Test("of a library has the settings of its section")
    func library() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        let gate = try Gate(in: folder)
        plugin.definitions = "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/file.h>\n#include <unistd.h>"
        plugin.call = """
            char id[16]; snprintf(id, sizeof id, "%d", getpid()); \(gate.c)
            host->reply(host, request->call, text(id));
            """
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\npool = { min = 2, max = 2 }"
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try pool(client) { $0["reusable"] == 2 }
            for id in 1...4 { try client.send(#"{"task":"specimen","callbackId":\#(id)}"#) }
            try pool(client) { $0["inUse"] == 2 }
            gate.open()
            let pids = try (1...4).map { _ in try client.receive()["result"]?.text }
            #expect(Set(pids).count == 2)
        }
    }

    @Test("without a minimum starts a process for calls that arrive after its last one crashed")
    func crashOfTheOnlyOne() throws {
        try withPool(pluginProcess("max = 2")) { _, client in
            #expect(try client.call("specimen", "crash")["error"]?["code"] == "plugin.crashed")
            _ = try #require(try client.result("specimen").int64Value)
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["state"] == "running")
        }
    }

    @Test("without a current process can still be reloaded, and its configuration too")
    func reloadWithoutProcess() throws {
        let folder = try TemporaryFolder()
        var process = pluginProcess("max = 2\nidle = \"100ms\"")
        process.other = """
            if task == "plugin.configure": state.append(m["options"].get("n"))
            if task == "specimen" and m["options"] == "n": task = ""; say({"callbackId": id, "result": state})
            """
        try process.write(to: folder)
        let section = "[plugins.specimen]\nn = "
        try withDaemon(section + "1", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try pool(client) { $0["reusable"] == 0 && $0["starting"] == 0 }
            #expect(try client.result("bridge.plugin.reload", ["name": "specimen"])["name"] == "specimen")
            try pool(client) { $0["reusable"] == 0 && $0["starting"] == 0 }
            #expect(try client.result("specimen", "n") == [1])
            try pool(client) { $0["reusable"] == 0 && $0["starting"] == 0 }
            #expect(try client.call("bridge.reload")["error"] == nil)
        }
    }

    @Test("never has more processes than the maximum, also while processes are replaced and calls wait")
    func neverMore() throws {
        var process = pluginProcess("min = 1\nmax = 3\nuses = 1")
        let folder = try TemporaryFolder()
        process.start = """
            state = []
            open("\(folder.path)/" + str(os.getpid()), "w").close()
            there = [n for n in os.listdir("\(folder.path)") if os.path.exists("/proc/" + n)]
            """
        process.call = #"say({"callbackId": id, "result": len(there)})"#
        try withPool(process) { _, client in
            for id in 0..<60 { try client.send(#"{"task":"specimen","callbackId":\#(id)}"#) }
            let counts = try (0..<60).compactMap { _ in try client.receive()["result"]?.int64Value }
            // Each process that is being replaced may still exist for a moment beside its successor.
            #expect(counts.count == 60 && counts.allSatisfy { $0 <= 6 }, "\(counts)")
        }
    }

    @Test("whose process is replaced during an unload of its plugin ends, and so does the daemon")
    func unloadedWhileWorn() throws {
        let folder = try TemporaryFolder()
        try pluginProcess("min = 1\nmax = 1\nuses = 1").write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            for _ in 0..<5 {
                let gate = try Gate(in: folder)
                try sendCalls([1], at: gate, client)
                try client.send(#"{"task":"bridge.plugin.unload","options":{"name":"specimen"},"callbackId":2}"#)
                _ = try client.result("bridge.ping")
                gate.open()
                let ends = try [client.receive(), client.receive()]
                #expect(ends.allSatisfy { $0["result"] != nil }, "\(ends)")
                let path = JSON.string("\(folder.path)/specimen.plugin.toml")
                #expect(try client.result("bridge.plugin.load", ["path": path])["name"] == "specimen")
            }
            daemon.signal(SIGTERM)
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("replaces a process that continues to work after its call timed out")
    func overdue() throws {
        var process = pluginProcess("min = 1\nmax = 1")
        process.call = #"say({"callbackId": id, "result": os.getpid()}) if m["options"] != "never" else None"#
        let folder = try TemporaryFolder()
        try process.write(to: folder)
        try withDaemon("plugin_timeout = \"10s\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let first = try client.result("specimen")
            try client.send(#"{"task":"specimen","options":"never","timeout":50,"callbackId":1}"#)
            #expect(try client.receive()["error"]?["code"] == "call.timeout")
            #expect(try client.result("specimen") != first)
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["state"] == "running")
            #expect(daemon.log.contains("still works 10.0 seconds after its caller has disconnected"))
        }
    }

    @Test("whose processes end at the same time starts again: this counts as one crash")
    func fallTogether() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        try withPool(pluginProcess("min = 8\nmax = 8")) { _, client in
            try pool(client) { $0["reusable"] == 8 }
            try sendCalls(1...8, at: gate, client)
            try pool(client) { $0["inUse"] == 8 }
            gate.open()
            let pids = try (1...8).compactMap { _ in try client.receive()["result"]?.int64Value }
            #expect(Set(pids).count == 8)
            for pid in pids { kill(Int32(pid), SIGKILL) }
            _ = try client.result("bridge.plugins") {
                $0["plugins"]?[0]?["restarts"] == 1 && $0["plugins"]?[0]?["pool"]?["reusable"] == 8
            }
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["state"] == "running")
            let next = try #require(try client.result("specimen").int64Value)
            #expect(!pids.contains(next))
        }
    }
}
