import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Plugins that are loaded and unloaded while the daemon serves calls", .blocking)
struct PluginLoadingTests {
    @Test(
        "a plugin is loaded by path, unloaded by name, and can be loaded again", arguments: SpecimenKind.allCases)
    func loadAndUnload(kind: SpecimenKind) throws {
        let (folder, empty) = (try TemporaryFolder(), try TemporaryFolder())
        let path = try kind.write(to: folder)
        let home = try DaemonHome(pluginDirectory: empty.path)
        try withDaemon(in: home) { daemon in
            try home.write(configuration: kind.configuration)
            let client = try daemon.connect()
            let listener = try daemon.connect()
            _ = try listener.result("bridge.subscribe", ["events": ["plugin.*"]])
            for round in 0..<3 {
                #expect(try client.call("specimen")["error"]?["code"] == "task.not_found")
                let loaded = try client.call("bridge.plugin.load", ["path": .string(path)])
                #expect(loaded["result"]?["name"] == "specimen" && loaded["result"]?["version"] == "1", "\(loaded)")
                #expect(try listener.receive()["event"] == "plugin.started")
                #expect(try client.result("specimen") == "1", "\(round)")
                let again = try client.call("bridge.plugin.load", ["path": .string(path)])["error"]
                #expect(again?["code"] == "plugin.unavailable")
                // The result contains "configured" if the configuration has a section of the plugin: the next daemon
                // loads it.
                let unloaded: JSON = kind == .inProcess ? ["configured": true] : [:]
                #expect(try client.result("bridge.plugin.unload", ["name": "specimen"]) == unloaded)
                #expect(
                    try listener.receive() == [
                        "event": "plugin.stopped", "data": ["name": "specimen", "version": "1"],
                    ])
                #expect(try client.plugins().isEmpty)
            }
        }
    }

    @Test("an invalid plugin is refused with the reason, and leaves no entry")
    func badLoads() throws {
        let (folder, empty) = (try TemporaryFolder(), try TemporaryFolder())
        let home = try DaemonHome(pluginDirectory: empty.path)
        try withDaemon(in: home) { daemon in
            try home.write(configuration: "[plugins]\ndisabled = [\"specimen\"]")
            let client = try daemon.connect()
            func refusal(_ path: String) throws -> JSON? {
                try client.call("bridge.plugin.load", ["path": .string(path)])["error"]
            }
            #expect(try refusal("lib.so")?["data"]?["path"] == "$.path")
            #expect(try refusal("/etc/passwd")?["code"] == "options.invalid")
            #expect(try refusal(folder.file("none.so"))?["message"]?.stringValue?.contains("No such file") == true)
            let disabled = try refusal(SpecimenKind.isolated.write(to: folder))
            #expect(disabled?["message"]?.stringValue?.contains("disables the plugin specimen") == true)
            try home.write(configuration: "socket = 1")
            #expect(try refusal(folder.file("libspecimen.so"))?["code"] == "configuration.invalid")
            for task in ["bridge.plugin.unload", "bridge.plugin.reload"] {
                #expect(try client.call(task, ["name": "none"])["error"]?["data"]?["path"] == "$.name")
            }
            #expect(try client.plugins().isEmpty)
        }
    }

    @Test("an unloaded plugin accepts no more calls, and completes its open calls first")
    func drain() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        var process = PluginInPython()
        process.call = """
            import threading
            threading.Thread(target=lambda: (\(gate.python), say({"callbackId": id, "result": m["options"]}))).start()
            """
        try process.write(to: folder)
        try withDaemon("stop_timeout = \"10m\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","options":"slow","callbackId":1}"#)
            try client.send(#"{"task":"bridge.plugin.unload","options":{"name":"specimen"},"callbackId":2}"#)
            let other = try daemon.connect()
            _ = try other.result("bridge.tasks") { tasks in
                tasks["tasks"]?.arrayValue?.contains { $0["name"] == "specimen" } == false
            }
            #expect(try other.call("specimen")["error"]?["code"] == "task.not_found")
            gate.open()
            #expect(try client.receive() == ["callbackId": 1, "result": "slow"])
            #expect(try client.receive() == ["callbackId": 2, "result": [:]])
        }
    }

    @Test("calls that an unloaded plugin does not complete within stop_timeout fail with plugin.unavailable")
    func overdue() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.call = "pass"
        try process.write(to: folder)
        try withDaemon("stop_timeout = \"1s\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","callbackId":1}"#)
            try client.send(#"{"task":"bridge.plugin.unload","options":{"name":"specimen"},"callbackId":2}"#)
            let ended = try client.receive()
            #expect(ended["callbackId"] == 1 && ended["error"]?["code"] == "plugin.unavailable", "\(ended)")
            #expect(ended["error"]?["data"]?["started"] == true)
            #expect(try client.receive() == ["callbackId": 2, "result": [:]])
        }
    }

    @Test("a daemon that stops ends the calls of a replaced version that is still draining, and stops it once")
    func stopWhileFinishing() throws {
        let folder = try TemporaryFolder()
        let stopped = folder.file("stopped")
        var process = PluginInPython()
        process.call = """
            if m["options"] == "stay": return
            say({"callbackId": id, "result": m["options"]})
            """
        process.other = "if task == \"plugin.stop\": open(\"\(stopped)\", \"a\").write(\"stopped\\n\")"
        try process.write(to: folder)
        try withDaemon("drain_timeout = \"100ms\"\nstop_timeout = \"10s\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","options":"stay","callbackId":1}"#)
            _ = try client.reloadSpecimen()
            #expect(try client.result("specimen", 2) == 2)
            #expect(try daemon.stop() == .exited(0))
            #expect(try client.receive()["callbackId"] == 1)
            #expect(contents(of: stopped) == "stopped\nstopped\n")
        }
    }

    @Test("a daemon that stops does not wait for a version that is still loading")
    func stopMeanwhile() throws {
        let folder = try TemporaryFolder()
        try PluginInPython().write(to: folder)
        try withDaemon("plugin_timeout = \"10m\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let started = folder.file("started")
            try PluginInPython(hello: "(open(\"\(started)\", \"w\").close(), signal.pause())[1]").write(to: folder)
            try client.send(#"{"task":"bridge.plugin.reload","options":{"name":"specimen"}}"#)
            _ = try client.result("bridge.ping") { _ in access(started, F_OK) == 0 }
            #expect(try daemon.stop() == .exited(0))
        }
    }
}
