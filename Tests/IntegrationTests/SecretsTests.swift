import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The log", .blocking)
struct SecretsTests {
    private static let journalSocket = "/run/systemd/journal/socket"

    /// Returns what a daemon has logged to any destination.
    private func logged(_ daemon: DaemonProcess, _ format: String) throws -> String {
        guard format == "journal", exists(Self.journalSocket) else { return daemon.log }
        let journal = try run("/usr/bin/journalctl", ["--all", "--output=json", "_PID=\(daemon.pid)"])
        return journal.output + daemon.log
    }

    @Test(
        "never contains a password, a token or the options of a private task", arguments: ["text", "json", "journal"])
    func secrets(format: String) throws {
        let home = try DaemonHome("log_format = \"\(format)\"")
        let secrets = ["hunter2-right", "hunter2-wrong", "hunter2-torn", "hunter2-extra", "hunter2-token"]
        var token = ""
        let log = try withDaemon(in: home) { daemon throws in
            let client = try daemon.connect()
            _ = try client.result("login.users.add", ["user": "ada", "password": "hunter2-right"])
            let login = try client.result("login", ["user": "ada", "password": "hunter2-right"])
            token = try #require(login["token"]?.stringValue)
            #expect(try client.call("login", ["user": "ada", "password": "hunter2-wrong"])["error"] != nil)
            #expect(try client.call("login", ["token": "hunter2-token"])["error"] != nil)
            // Invalid options of a private task, in several forms.
            for options in [
                ["user": ["hunter2-extra"], "password": "hunter2-wrong"], ["password": ["hunter2-extra"]],
                "hunter2-extra", ["user": "ada", "password": "hunter2-extra\u{1}", "hunter2-extra": 1],
            ] as [JSON] {
                #expect(try client.call("login", options)["error"] != nil)
                #expect(try client.call("login.users.add", options)["error"] != nil)
            }
            // Lines that are not messages, and an answer without a call.
            for line in [
                #"{"task":"login","options":{"user":"ada","password":"hunter2-torn"}"#,
                #"{"task":"login","options":{"password":"hunter2-torn"},"callbackId":{}}"#,
                #"{"login":"hunter2-torn"}"#, #"["hunter2-torn"]"#,
            ] {
                try client.send(line)
                #expect(try client.receive()["error"] != nil)
            }
            try client.send(#"{"callbackId":5,"result":"hunter2-torn"}"#)
            // A client that disconnects in the middle of a line and of an answer.
            let torn = try daemon.connect()
            try torn.send(#"{"task":"login","options":{"user":"ada","password":"hunter2-right"},"callbackId":1}"#)
            try torn.send(bytes: Array(#"{"task":"login","options":{"password":"hunter2-torn"#.utf8))
            torn.close()
            _ = try client.result("login", ["token": .string(token)])
            _ = try client.result("logout")
            #expect(try daemon.stop() == .exited(0))
            return try logged(daemon, format)
        }
        // The log has content, at the level debug.
        #expect(log.contains("the launch worker plugins.load took"))
        #expect(log.contains("a reply was dropped: a client answered a call that it does not have"))
        #expect(!log.contains("hunter2"))
        for secret in secrets + [token] { #expect(!log.contains(secret)) }
    }

    @Test("has a JSON object in each line, with the session that the line concerns")
    func json() throws {
        let home = try DaemonHome("log_format = \"json\"")
        try withDaemon(in: home) { daemon throws in
            let client = try daemon.connect()
            let session = try client.result("bridge.hello")["session"]
            try client.send(#"{"callbackId":5,"result":1}"#)
            _ = try client.result("bridge.ping")
            #expect(try daemon.stop() == .exited(0))
            let lines = try daemon.log.split(separator: "\n").map { try JSON(parsing: String($0)) }
            for line in lines {
                #expect(line["time"] != nil && line["level"] != nil && line["message"] != nil, "\(line.text)")
            }
            let dropped = try #require(
                lines.first { $0["message"]?.stringValue?.hasPrefix("a reply was dropped") == true })
            #expect(dropped["level"] == "debug")
            #expect(dropped["fields"] == ["session": session ?? nil, "uid": .number(JSONNumber(geteuid()))])
        }
    }

    @Test("names call, task, session and user in lines that a plugin logs for a call, from any thread")
    func pluginLines() throws {
        let folder = try TemporaryFolder()
        var plugin = PluginInC()
        plugin.definitions = """
            static void say(trestle_call call, const char *what) { host->log(host, TRESTLE_LOG_NOTICE, text(what), call); }
            static trestle_call current;
            static void *other(void *unused) {
                say(current, "from a thread");
                host->reply(host, current, text("1"));
                return 0;
            }
            """
        plugin.call = """
            current = request->call;
            say(current, "from the loop");
            pthread_t thread;
            pthread_create(&thread, 0, other, 0);
            pthread_detach(thread);
            """
        try plugin.build(in: folder)
        let home = try DaemonHome("log_format = \"json\"", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon throws in
            let client = try daemon.connect()
            let session = try #require(try client.result("bridge.hello")["session"])
            #expect(try client.result("specimen") == 1)
            let lines = try daemon.log.split(separator: "\n").map { try JSON(parsing: String($0)) }
            for text in ["from the loop", "from a thread"] {
                let line = try #require(lines.first { $0["message"]?.stringValue == text })
                let fields = try #require(line["fields"]?.objectValue)
                #expect(fields["plugin"] == "specimen" && fields["task"] == "specimen", "\(line.text)")
                #expect(fields["session"] == session && fields["uid"] == .number(JSONNumber(geteuid())))
                #expect(fields["call"]?.int64Value ?? 0 > 0)
            }
        }
    }
}
