import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A library, in the daemon's process or in its own process,", .blocking)
struct IsolationTests {
    private func withPlugin(
        _ plugin: PluginInC, isolation: String, _ body: (DaemonProcess, Wire) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    @Test("is started with the trusted daemon itself as the caller", arguments: ["none", "process"])
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

    @Test("may send progress that is not JSON: it is dropped and logged", arguments: ["none", "process"])
    func progress(isolation: String) throws {
        var plugin = PluginInC()
        plugin.call = """
            host->report_progress(host, request->call, text("{oops"));
            host->report_progress(host, request->call, text("1"));
            host->reply(host, request->call, text("2"));
            """
        try withPlugin(plugin, isolation: isolation) { daemon, client in
            try client.send(#"{"task":"specimen","callbackId":1,"progress":true}"#)
            #expect(try client.receive()["progress"] == 1)
            #expect(try client.receive()["result"] == 2)
            try daemon.awaitLog("sent progress that is not valid JSON", client)
        }
    }

    /// A plugin that wraps its options into a call, an event and, if that call fails, an error.
    private var wrapping: PluginInC {
        var plugin = PluginInC()
        plugin.definitions = """
            #include <stdio.h>
            #include <stdlib.h>
            static char *wrapped;
            static void done(void *context, trestle_bytes result, const trestle_error *error) {
                trestle_call call = (trestle_call)context;
                if (!error) { host->reply(host, call, result); return; }
                trestle_error mine = *error;
                mine.data = text(wrapped);
                host->fail(host, call, &mine);
            }
            """
        plugin.call = """
            size_t room = request->options.size + 32;
            wrapped = realloc(wrapped, room);
            snprintf(wrapped, room, "{\\"payload\\":%.*s}", (int)request->options.size, request->options.data);
            host->publish(host, &(trestle_event){.size = sizeof(trestle_event), .abi = TRESTLE_ABI,
                .name = text("specimen.event"), .data = text(wrapped)});
            host->call(host, &(trestle_outgoing_call){.size = sizeof(trestle_outgoing_call), .abi = TRESTLE_ABI,
                .parent = request->call, .task = text("bridge.ping"), .options = text(wrapped),
                .context = (void *)request->call, .done = done});
            """
        return plugin
    }

    @Test(
        "that nests options of the maximum depth further fails only that call",
        arguments: ["none", "process"])
    func deep(isolation: String) throws {
        try withPlugin(wrapping, isolation: isolation) { _, client in
            let pid = try client.result("bridge.plugins")["plugins"]?[0]?["pid"]
            let deep = String(repeating: "[", count: 127) + String(repeating: "]", count: 127)
            for _ in 0..<6 {
                try client.send(#"{"task":"specimen","options":\#(deep),"callbackId":1}"#)
                let end = try client.receive()
                #expect(end["error"]?["code"] == "options.invalid" && end["error"]?["data"] == nil, "\(end)")
            }
            #expect(try client.result("specimen", [1])["wallMs"] != nil)
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["pid"] == pid)
        }
    }

    @Test(
        "that exceeds the message limit, also after the daemon raises it, fails at most that call",
        arguments: ["none", "process"])
    func long(isolation: String) throws {
        let folder = try TemporaryFolder()
        try wrapping.build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"\(isolation)\"\n[limits]\nmessage_bytes = "
        let home = try DaemonHome(section + "\"64KiB\"", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            let pid = try client.result("bridge.plugins")["plugins"]?[0]?["pid"]
            func answer(_ bytes: Int) throws -> JSON? {
                try client.send(
                    #"{"task":"specimen","options":"\#(String(repeating: "x", count: bytes))","callbackId":1}"#)
                return try client.receive()["error"]?["code"]
            }
            let first = try answer(65_400)
            #expect(first == nil || isolation == "process" && first == "message.too_large", "\(first ?? nil)")
            try daemon.home.write(configuration: section + "\"1MiB\"")
            #expect(try client.result("bridge.reload")["applied"] == ["limits.message_bytes"])
            let code = try answer(500_000)
            // The process keeps its limit: the plugin's own call fails, and its error contains the whole options.
            #expect(code == (isolation == "process" ? "reply.invalid" : nil), "\(code ?? nil)")
            #expect(try client.result("specimen", [1])["wallMs"] != nil)
            #expect(try client.result("bridge.plugins")["plugins"]?[0]?["pid"] == pid)
        }
    }
}
