import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A plugin that blocks its thread", .blocking)
struct HoldTests {
    /// Returns a plugin whose call waits at a gate, on the loop thread.
    private func holding(_ gate: Gate) -> PluginInC {
        var plugin = PluginInC()
        plugin.definitions = "#include <fcntl.h>\n#include <sys/file.h>"
        plugin.call = gate.c + #" host->reply(host, request->call, text("1"));"#
        return plugin
    }

    /// Waits for a log line of a daemon that may be blocked itself.
    private func awaitLine(_ text: String, of daemon: DaemonProcess) throws {
        let deadline = Deadline()
        while !daemon.log.contains(text) {
            if deadline.isOver { throw TestFailure("the log does not say: \(text)") }
            sched_yield()
        }
    }

    @Test(
        "is reported with its task, during the block and after it, in the log, the status and the metrics",
        arguments: [("none", "daemon"), ("process", "plugin")])
    func holds(isolation: String, owner: String) throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        try holding(gate).build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","callbackId":1}"#)
            try awaitLine("specimen has held the \(owner)'s thread for ", of: daemon)
            #expect(daemon.log.contains(", and still does; use call.blocking"))
            gate.open()
            #expect(try client.receive()["result"] == 1)
            try awaitLine("specimen held the \(owner)'s thread for ", of: daemon)
            let isLate = { (json: JSON) in
                json["plugins"]?.arrayValue?.contains { $0["lagMs"]?.int64Value ?? 0 >= 750 } == true
            }
            try client.result("bridge.plugins", until: isLate)
            try client.result("bridge.status", until: isLate)
            let series = #"trestle_plugin_loop_lag_seconds{plugin=\"specimen\"} "#
            try client.result("bridge.metrics") { metrics in
                let figure = metrics.text.firstRange(of: series).map { metrics.text[$0.upperBound...] }
                return figure.flatMap { Double($0.prefix { $0.isNumber || $0 == "." }) } ?? 0 >= 0.75
            }
        }
    }

    @Test("after a suspension is reported with the task whose call is open")
    func resumed() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        #expect(symlink(Paths.program("libFixture.so"), folder.file("libFixture.so")) == 0)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"fixture.hold","options":{"path":"\#(gate.path)"},"callbackId":1}"#)
            try awaitLine("fixture.hold has held the plugin's thread for ", of: daemon)
            gate.open()
            #expect(try client.receive()["result"] == true)
            try awaitLine("fixture.hold held the plugin's thread for ", of: daemon)
        }
    }

    @Test("fails the check of a plugin, which reports the task")
    func check() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.definitions = "#include <unistd.h>"
        plugin.call = #"usleep(900000); host->reply(host, request->call, text("1"));"#
        let (failed, run) = try checkFailures(
            try plugin.build(in: folder), "--json", "--call", "specimen", "--timeout", "5m")
        #expect(failed.contains("blocking"))
        // The call blocks the thread for 0.9 seconds, or longer on a busy machine.
        for part in ["specimen held the plugin's thread for ", " s; use call.blocking"] {
            #expect(run.output.contains(part), "\(run.output)")
        }
    }

    @Test("A second answer to a call is a warning in the log", arguments: ["none", "process"])
    func secondAnswer(isolation: String) throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        let reply = #"host->reply(host, request->call, text("1"));"#
        plugin.call = reply + reply
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("specimen") == 1)
            try daemon.awaitLog("answered a call twice", client)
            let line = daemon.log.split(separator: "\n").first { $0.contains("answered a call twice") }
            #expect(line?.contains("warning") == true, "\(line ?? "")")
        }
    }
}
