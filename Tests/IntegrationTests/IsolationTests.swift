import BridgeJSON
import Glibc
import Testing

@Suite("A library, in the daemon's process and in one of its own,", .blocking)
struct IsolationTests {
    private func withPlugin(
        _ plugin: PluginInC, isolation: String, _ body: (DaemonProcess, Wire) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    @Test("is started by the daemon itself, which is trusted", arguments: ["none", "process"])
    func starter(isolation: String) throws {
        var plugin = PluginInC()
        plugin.definitions = "#include <stdio.h>\nstatic char starter[256];"
        plugin.start = """
            const trestle_caller *c = request->caller;
            snprintf(starter, sizeof starter,
                "{\\"session\\":%llu,\\"uid\\":%u,\\"gid\\":%u,\\"pid\\":%d,\\"trusted\\":%s,\\"origin\\":\\"%.*s\\",\\"user\\":%zu}",
                (unsigned long long)c->session, c->uid, c->gid, c->pid,
                c->flags & TRESTLE_CALLER_TRUSTED ? "true" : "false", (int)c->origin.size, c->origin.data, c->user.size);
            host->reply(host, request->call, text("{}"));
            """
        plugin.call = "host->reply(host, request->call, text(starter));"
        try withPlugin(plugin, isolation: isolation) { daemon, client in
            let starter = try client.result("specimen")
            let wanted: JSON = [
                "session": 0, "uid": .number(JSONNumber(UInt64(getuid()))), "gid": 0,
                "pid": .number(JSONNumber(Int(daemon.pid))), "trusted": true, "origin": "local", "user": 0,
            ]
            #expect(starter == wanted)
        }
    }

    @Test("sends progress that is no JSON: it is left out, and the log says so", arguments: ["none", "process"])
    func progress(isolation: String) throws {
        var plugin = PluginInC()
        plugin.call = """
            host->progress(host, request->call, text("{oops"));
            host->progress(host, request->call, text("1"));
            host->reply(host, request->call, text("2"));
            """
        try withPlugin(plugin, isolation: isolation) { daemon, client in
            try client.send(#"{"task":"specimen","callbackId":1,"progress":true}"#)
            #expect(try client.receive()["progress"] == 1)
            #expect(try client.receive()["result"] == 2)
            try daemon.awaitLog("sent progress that is no JSON", client)
        }
    }
}
