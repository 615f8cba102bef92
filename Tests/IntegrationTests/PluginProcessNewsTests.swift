import BridgeJSON
import TestSupport
import Testing

/// Unrequested messages of a plugin process have limits. What exceeds them is truncated or omitted, and the log reports
/// it.
@Suite("Unrequested messages of a plugin process", .blocking)
struct PluginProcessNewsTests {
    private func withPluginProcess(_ call: String, _ body: (DaemonProcess, Wire) throws -> Void) throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.call = call + "\nsay({\"callbackId\": id, \"result\": \"said\"})"
        try process.write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            _ = try client.result("bridge.subscribe", ["events": ["*"]])
            #expect(try client.result("specimen") == "said")
            try body(daemon, client)
        }
    }

    @Test("contain at most 64 metrics at once, each with 256 bytes of help")
    func figures() throws {
        try withPluginProcess(
            """
            figures = [{"name": "n%d" % n, "kind": "gauge", "value": n, "help": "é" * 1000} for n in range(65)]
            say({"task": "plugin.metrics", "options": {"metrics": [dict(f, help="x") for f in figures] * 3}})
            say({"task": "plugin.metrics", "options": {"metrics": figures[:2]}})
            """
        ) { daemon, client in
            // The messages of a process take turns with those of others.
            let help = String(repeating: "é", count: 128) + "…"
            let status = try client.result("bridge.status") { status in
                status["metrics"]?.arrayValue?.contains { $0["help"]?.stringValue == help } == true
            }
            let all = status["metrics"]?.arrayValue?.filter { $0["plugin"] == "specimen" }
            #expect(all?.count == 64)
            #expect(all?.first?["help"]?.stringValue == help)
            try daemon.awaitLog("sends 195 metrics together: those after the first 64 are left out", client)
        }
    }

    @Test("have at most 64 KiB in a call of plugin.log or plugin.metrics")
    func size() throws {
        try withPluginProcess(
            """
            say({"task": "plugin.log", "options": {"level": "error", "message": "much " + "y" * 70000}})
            say({"task": "plugin.metrics", "options": {"metrics": [], "more": "y" * 70000}})
            """
        ) { daemon, client in
            try daemon.awaitLog("its call of plugin.log has 700", client)
            try daemon.awaitLog("its call of plugin.metrics has 700", client)
            #expect(daemon.log.contains("more than the 65536 allowed") && !daemon.log.contains("much y"))
        }
    }

    @Test("have at most 8 KiB for a line of the log")
    func lines() throws {
        try withPluginProcess(
            #"say({"task": "plugin.log", "options": {"level": "error", "message": "long " + "z" * 20000}})"#
        ) { daemon, client in
            try daemon.awaitLog("long z", client)
            let line = daemon.log.split(separator: "\n").first { $0.contains("long z") }
            #expect((line?.utf8.count ?? 0) < 9 << 10 && line?.contains("z…") == true)
        }
    }

    @Test("are no events if the name is empty or has more than 128 bytes")
    func events() throws {
        try withPluginProcess(
            """
            for name in ["", "e" * 129, "e" * 128]:
                say({"task": "plugin.publish", "options": {"event": name, "data": [1.50, {"a": "\\u00e9"}]}})
            say({"task": "plugin.publish", "options": {"data": 1}})
            say({"task": "plugin.publish", "options": {"event": "x", "sessions": "all"}})
            """
        ) { daemon, client in
            let heard = try client.receive()
            #expect(heard["event"]?.stringValue?.utf8.count == 128)
            #expect(heard["data"]?.text == #"[1.5,{"a":"\#u{e9}"}]"#)
            for reason in [
                #"characters A-Z, a-z, 0-9, and . _ / : -; this one is """#, #"this one is "eeee"#,
                "its event or its sessions are invalid",
            ] {
                try daemon.awaitLog(reason, client)
            }
        }
    }

    @Test("with repeated members use only the last value of each")
    func repeatedMembers() throws {
        try withPluginProcess(
            """
            f.write('{"task":"plugin.publish","options":{"event":[],"event":"x","sessions":"all","sessions":null}}\\n')
            """
        ) { _, client in
            let heard = try client.receive()
            #expect(heard["event"] == "x")
        }
    }
}
