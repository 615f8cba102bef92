import BridgeJSON
import TestSupport
import Testing

/// What a plugin process gets of the sessions: `sessions` of its answer to `plugin.hello`.
@Suite("The changes of sessions that a plugin process gets", .blocking, .timeLimit(.minutes(20)))
struct SessionNewsTests {
    /// Starts a daemon with a process that collects the changes, and passes it with a client that asks for them.
    private func withProcess(sessions: String, _ body: (DaemonProcess, Wire) throws -> Void) throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.start = "heard = []"
        process.hello = #"{"sessions": \#(sessions)}"#
        process.other = """
            if m.get("event") == "plugin.session":
                heard.append([m["data"]["change"], m["data"]["caller"]["session"]])
            """
        process.call = #"say({"callbackId": id, "result": heard})"#
        try process.write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    private func number(of client: Wire) throws -> JSON? { try client.result("bridge.hello")["session"] }

    @Test("are only the ends of sessions that have called it, if it declares callers")
    func callers() throws {
        try withProcess(sessions: #""callers""#) { daemon, client in
            let (caller, other) = (try daemon.connect(), try daemon.connect())
            let callerNumber = try number(of: caller)
            _ = try number(of: other)
            #expect(try caller.result("specimen") == [])
            other.close()
            try client.result("bridge.status") { $0["sessions"] == 2 }
            caller.close()
            let ends: JSON = .array([.array(["closed", callerNumber ?? .null])])
            try client.result("specimen") { $0 == ends }
        }
    }

    @Test("are all changes of all sessions, if it declares true")
    func all() throws {
        try withProcess(sessions: "True") { daemon, client in
            let clientNumber = try number(of: client)
            let other = try daemon.connect()
            let otherNumber = try number(of: other)
            other.close()
            try client.result("specimen") { heard in
                [("opened", clientNumber), ("opened", otherNumber), ("closed", otherNumber)].allSatisfy { change in
                    heard.arrayValue?.contains(.array([.string(change.0), change.1 ?? .null])) == true
                }
            }
        }
    }

    @Test("are none otherwise", arguments: ["False", "None", #""all""#, "1"])
    func none(sessions: String) throws {
        try withProcess(sessions: sessions) { daemon, client in
            let other = try daemon.connect()
            #expect(try other.result("specimen") == [])
            other.close()
            try client.result("bridge.status") { $0["sessions"] == 1 }
            #expect(try client.result("specimen") == [])
        }
    }
}
