import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Interceptors in the daemon", .blocking)
struct InterceptorTests {
    static let isolations = ["none", "process"]

    private func section(_ isolation: String) -> String { "[plugins.specimen]\nisolation = \"\(isolation)\"" }

    /// Runs `body` with a daemon with Echo and with a plugin in C that intercepts Echo with this code.
    private func withInterceptor<R>(
        _ intercept: String, failure: String = "refuse", tasks: String = #""Echo""#, definitions: String = "",
        isolation: String, _ body: (DaemonProcess, Wire) throws -> R
    ) throws -> R {
        let folder = try TemporaryFolder()
        var plugin = PluginInC(intercept: intercept, definitions: definitions)
        plugin.interceptors =
            #"{"name":"specimen.look","summary":"Looks.","tasks":[\#(tasks)],"onFailure":"\#(failure)"}"#
        try plugin.build(in: folder)
        return try withDaemon("plugin_dir = [\"\(Paths.build)\", \"\(folder.path)\"]\n" + section(isolation)) {
            daemon throws in
            try body(daemon, daemon.connect())
        }
    }

    /// Returns statements in C that answer with this decision.
    private func reply(_ decision: String) -> String {
        let escaped = decision.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "host->reply(host, request->call, text(\"\(escaped)\"));"
    }

    private func report(_ client: Wire) throws -> JSON? { try client.result("bridge.status")["interceptors"]?[0] }

    // MARK: Decisions

    @Test("pass, rewrite, redirect, answer and refuse calls, each with one callback", arguments: isolations)
    func decisions(isolation: String) throws {
        let intercept = """
            const char *all = request->options.data;
            const char *says = memmem(all, request->options.size, "\\"options\\":", 10) + 10;
            switch (*says) {
            case '1': \(reply(#"{"options":"rewritten"}"#)) break;
            case '2': \(reply(#"{"task":"specimen","options":{}}"#)) break;
            case '3': \(reply(#"{"result":["answered"]}"#)) break;
            case '4': \(reply(#"{"error":{"code":"look.no","message":"No."}}"#)) break;
            default: \(reply(#"{"pass":true}"#)) break;
            }
            """
        try withInterceptor(
            intercept, definitions: "void *memmem(const void *, size_t, const void *, size_t);", isolation: isolation
        ) { _, client throws in
            #expect(try client.result("Echo", ["a": 1]) == ["a": 1])
            #expect(try client.result("Echo", 1) == "rewritten")
            #expect(try client.result("Echo", 2) == "specimen")
            #expect(try client.result("Echo", 3) == ["answered"])
            #expect(try client.call("Echo", 4)["error"] == ["code": "look.no", "message": "No."])
            for id in 1...200 { try client.send(#"{"task":"Echo","options":{"n":\#(id)},"callbackId":\#(id)}"#) }
            #expect(try (1...200).map { _ in try client.receive()["result"]?["n"]?.int64Value } == Array(1...200))
            let report = try report(client)
            #expect(report?["asked"] == 205 && report?["passed"] == 201 && report?["failed"] == 0)
            for word in ["rewrote", "redirected", "answered", "refused"] { #expect(report?[word] == 1, "\(word)") }
        }
    }

    @Test("pass options of the maximum nesting depth", arguments: isolations)
    func deep(isolation: String) throws {
        try withInterceptor(reply(#"{"pass":true}"#), isolation: isolation) { _, client throws in
            let options = String(repeating: "[", count: 127) + String(repeating: "]", count: 127)
            try client.send(#"{"task":"Echo","options":\#(options),"callbackId":1}"#)
            #expect(try client.receive()["result"]?.text == options)
            #expect(try report(client)?["failed"] == 0)
        }
    }

    @Test("may answer with a result of the maximum nesting depth, but no deeper", arguments: isolations)
    func deepAnswer(isolation: String) throws {
        let definitions = """
            static char answer[300];
            static trestle_bytes nested(int levels) {
                strcpy(answer, "{\\"result\\":");
                size_t n = strlen(answer);
                memset(answer + n, '[', levels);
                memset(answer + n + levels, ']', levels);
                answer[n + 2 * levels] = '}';
                return (trestle_bytes){answer, n + 2 * levels + 1};
            }
            """
        let intercept = """
            int deep = request->options.data[request->options.size - 2] == '8';
            host->reply(host, request->call, nested(deep ? 128 : 127));
            """
        try withInterceptor(intercept, definitions: definitions, isolation: isolation) { _, client throws in
            #expect(try client.result("Echo", 127).text.count == 254)
            #expect(try client.call("Echo", 128)["error"]?["code"] == "reply.invalid")
        }
    }

    // MARK: Failures

    @Test("that crash fail the call, or pass it, according to onFailure", arguments: ["refuse", "pass"])
    func crash(failure: String) throws {
        let intercept = """
            if (request->options.data[request->options.size - 2] == '1') __builtin_trap();
            \(reply(#"{"pass":true}"#))
            """
        try withInterceptor(intercept, failure: failure, isolation: "process") { _, client throws in
            let answer = try client.call("Echo", 1)
            if failure == "refuse" {
                #expect(answer["error"]?["code"] == "plugin.crashed")
                #expect(answer["error"]?["data"]?["interceptor"] == "specimen.look")
            } else {
                #expect(answer["result"] == 1)
            }
            // The interceptor is started and called again. With "refuse", calls wait for the start.
            #expect(try client.result("Echo", 2) == 2)
            #expect(try report(client)?["failed"]?.int64Value ?? 0 >= 1)
        }
    }

    @Test("with an invalid decision fail the call", arguments: ["{}", "", "[1", "7", #"{"pass":0}"#], isolations)
    func garbage(decision: String, isolation: String) throws {
        try withInterceptor(reply(decision), isolation: isolation) { _, client throws in
            let error = try client.call("Echo", 1)["error"]
            #expect(error?["code"] == "reply.invalid")
            #expect(try client.result("specimen") == "specimen")
        }
    }

    @Test("have a second decision dropped", arguments: isolations)
    func twice(isolation: String) throws {
        let both = reply(#"{"pass":true}"#) + reply(#"{"result":"second"}"#)
        try withInterceptor(both, isolation: isolation) { _, client throws in
            #expect(try client.result("Echo", 1) == 1)
            // The process has sent the second decision before it answers this call.
            #expect(try client.result("specimen") == "specimen")
            #expect(try client.result("bridge.status")["droppedReplies"] == 1)
        }
    }

    @Test("that never decide end with the timeout or the cancellation of the call", arguments: isolations)
    func never(isolation: String) throws {
        let definitions = #"static void say(const char *what) { host->log(host, TRESTLE_LOG_WARNING, text(what), 0); }"#
        try withInterceptor("say(\"thinking\");", definitions: definitions, isolation: isolation) { _, client throws in
            try client.send(#"{"task":"Echo","callbackId":1,"timeout":30}"#)
            let error = try client.receive()["error"]
            #expect(error?["code"] == "call.timeout" && error?["data"]?["started"] == true)
            #expect(error?["message"]?.stringValue?.contains("specimen.look") == true)
            try client.send(#"{"task":"Echo","callbackId":2}"#)
            try client.send(#"{"cancel":2}"#)
            #expect(try client.receive()["error"]?["code"] == "call.cancelled")
        }
    }

    @Test("that a manifest declares without a function in the table have their plugin refused", arguments: isolations)
    func lacking(isolation: String) throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC(size: "offsetof(trestle_plugin, intercept)")
        plugin.interceptors = #"{"name":"a","summary":"b","tasks":[]}"#
        try plugin.build(in: folder)
        try withDaemon(section(isolation), pluginDirectory: folder.path) { daemon throws in
            let error = try daemon.connect().result("bridge.plugins")["plugins"]?[0]?["error"]?.stringValue
            #expect(error?.contains("its table lacks intercept") == true, "\(error ?? "")")
        }
    }

    @Test("are optional: a plugin built before they existed works unchanged", arguments: isolations)
    func older(isolation: String) throws {
        let folder = try TemporaryFolder()
        try PluginInC(size: "offsetof(trestle_plugin, intercept)").build(in: folder)
        try withDaemon(section(isolation), pluginDirectory: folder.path) { daemon throws in
            #expect(try daemon.connect().result("specimen") == "specimen")
        }
    }

    // MARK: Calls that it makes

    @Test("do not intercept calls that they make on behalf of a call", arguments: isolations)
    func proceeding(isolation: String) throws {
        let definitions = """
            static void done(void *context, trestle_bytes result, const trestle_error *error) {
                static char decision[256];
                int n = snprintf(decision, sizeof decision, "{\\"result\\":{\\"kept\\":%.*s}}", (int)result.size, result.data);
                host->reply(host, (trestle_call)(uintptr_t)context, (trestle_bytes){decision, n});
            }
            """
        let intercept = """
            trestle_outgoing_call call = {.size = sizeof call, .abi = TRESTLE_ABI, .parent = request->call,
                .task = text("Echo"), .options = text("[1]"), .context = (void *)(uintptr_t)request->call, .done = done};
            host->call(host, &call);
            """
        try withInterceptor(intercept, definitions: "#include <stdio.h>\n" + definitions, isolation: isolation) {
            _, client throws in
            #expect(try client.result("Echo", 5) == ["kept": [1]])
            #expect(try report(client)?["asked"] == 1)
        }
    }

    // MARK: Plugin processes

    @Test("of a plugin process receive the call, the caller and the time left, and send a decision")
    func pluginProcess() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.settings = """
            [[interceptors]]
            name = "specimen.look"
            summary = "Looks."
            tasks = ["specimen.*", "Ec*"]
            onFailure = "pass"

            """
        process.call = """
            say({"callbackId": id, "result": [m["options"], m["caller"]["uid"]]})
            """
        process.intercept = """
            o = q["options"]
            if o == "redirect": say({"callbackId": id, "result": {"task": "specimen", "options": [q["task"], q["interceptor"], m["timeout"] > 0]}})
            elif o == "who": say({"callbackId": id, "result": {"result": m["caller"]["uid"]}})
            elif o == "error": say({"callbackId": id, "error": {"code": "look.no", "message": "No."}})
            elif o == "fault": say({"callbackId": id, "error": {"code": "internal", "message": "I fell over."}})
            elif o == "end": os._exit(3)
            elif o == "deep": f.write('{"callbackId":%d,"result":{"result":%s}}\\n' % (id, "[" * 127 + "]" * 127)); f.flush()
            else: say({"callbackId": id, "result": {"pass": True}})
            """
        try process.write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon throws in
            let client = try daemon.connect()
            let uid = JSON.number(JSONNumber(UInt64(getuid())))
            #expect(try client.result("specimen.good", [1]) == [1])
            #expect(try client.result("specimen.good", "redirect") == [["specimen.good", "specimen.look", true], uid])
            #expect(try client.result("specimen.good", "who") == uid)
            #expect(try client.call("specimen.good", "error")["error"]?["code"] == "look.no")
            #expect(try client.result("specimen.good", "fault") == "fault")
            #expect(try client.result("specimen.good", "deep").text.count == 254)
            let plugin = try client.result("bridge.plugins")["plugins"]?[0]
            #expect(plugin?["interceptors"] == ["specimen.look"] && plugin?["restarts"] == 0)
            let interceptors = try client.result("bridge.describe", ["task": "specimen.good"])["interceptors"]
            #expect(interceptors?[0]?["name"] == "specimen.look" && interceptors?[0]?["onFailure"] == "pass")
        }
    }

    @Test("of a plugin process that does not support them fail instead of answering the call")
    func unknowing() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.settings =
            "interceptors = [{ name = \"specimen.look\", summary = \"Looks.\", tasks = [\"specimen.good\"] }]"
        process.intercept = #"say({"callbackId": id, "error": {"code": "task.not_found", "message": "no"}})"#
        try process.write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon throws in
            let error = try daemon.connect().call("specimen.good")["error"]
            #expect(error?["code"] == "task.not_found")
            #expect(error?["message"]?.stringValue?.contains("the interceptor specimen.look") == true)
        }
    }

    @Test("of a plugin process may change with a reload")
    func reload() throws {
        let folder = try TemporaryFolder()
        func writeProcess(_ interceptor: String) throws {
            var process = PluginInPython()
            process.settings = "interceptors = [{ summary = \"Looks.\", \(interceptor) }]"
            process.intercept = #"say({"callbackId": id, "result": {"result": "looked"}})"#
            try process.write(to: folder)
        }
        try writeProcess(#"name = "specimen.look", tasks = ["specimen.good"]"#)
        try withDaemon(pluginDirectory: folder.path) { daemon throws in
            let client = try daemon.connect()
            #expect(try client.result("specimen.good", 1) == "looked" && client.result("specimen", 1) == 1)
            try writeProcess(#"name = "specimen.look", tasks = ["specimen"]"#)
            _ = try client.result("bridge.plugin.reload", ["name": "specimen"])
            #expect(try client.result("specimen.good", 1) == 1 && client.result("specimen", 1) == "looked")
            try writeProcess(#"name = "specimen.other", tasks = ["specimen.good"]"#)
            _ = try client.result("bridge.plugin.reload", ["name": "specimen"])
            #expect(try client.result("specimen.good", 1) == "looked" && client.result("specimen", 1) == 1)
        }
    }

    @Test("of a plugin process are validated with the manifest")
    func badManifest() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.settings = "interceptors = [{ name = \"a\", summary = \"b\", tasks = [\"c\"], failures = \"pass\" }]"
        try process.write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon throws in
            let error = try daemon.connect().result("bridge.plugins")["plugins"]?[0]?["error"]?.stringValue
            #expect(
                error?.contains("unknown key, did you mean failure") == true || error?.contains("unknown key") == true,
                "\(error ?? "")")
        }
    }
}
