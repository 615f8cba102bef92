import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The command line", .blocking)
struct CommandTests {
    @Test("notify calls a task of a provider, prints nothing, and does not wait for an answer")
    func notify() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["lamp.switch"]])
            let run = try daemon.home.trestle("notify", "lamp.switch", "on=true")
            #expect(run.end == .exited(0) && run.output == "" && run.errors == "")
            let call = try provider.receive { $0["task"] == "lamp.switch" }
            #expect(call["options"] == ["on": true] && call["callbackId"] == nil)
            #expect(try daemon.home.trestle("notify").end == .exited(64))
        }
    }

    @Test("publish sends an event, retains it with --retain, and removes it with --forget")
    func publish() throws {
        try withDaemon { daemon in
            let early = try daemon.connect()
            _ = try early.result("bridge.subscribe", ["events": ["lamp"]])
            #expect(try daemon.home.trestle("publish", "lamp", "on=true", "--retain").end == .exited(0))
            let event: JSON = ["event": "lamp", "retained": true, "data": ["on": true]]
            #expect(try early.receive { $0["event"] != nil } == event)
            let later = try daemon.connect()
            _ = try later.result("bridge.subscribe", ["events": ["lamp"]])
            #expect(try later.receive { $0["event"] != nil } == event)
            #expect(try daemon.home.trestle("publish", "lamp", "--forget").end == .exited(0))
            let last = try daemon.connect()
            _ = try last.result("bridge.subscribe", ["events": ["lamp"]])
            #expect(try daemon.home.trestle("publish", "lamp").end == .exited(0))
            // A retained event would have arrived first.
            for client in [early, last] {
                #expect(try client.receive { $0["event"] != nil } == ["event": "lamp", "data": nil])
            }
        }
    }

    @Test(
        "publish reports invalid arguments",
        arguments: [
            (["lamp", "--retain", "--forget"], "exclude each other"), (["lamp", "1", "--forget"], "takes no data"),
            (["lamp", "{"], "the data are not valid JSON"),
            (["lamp", "on"], "the data are one JSON value or key=value"),
            ([], "event"),
        ])
    func wrongPublish(arguments: [String], words: String) throws {
        try withDaemon { daemon in
            let run = try daemon.home.trestle(["publish"] + arguments)
            #expect(run.end == .exited(64) && run.errors.contains(words), "\(run.errors)")
        }
    }

    @Test("explain takes a task, or a verb and a name, and exits with 1 if it is denied")
    func explain() throws {
        try withDaemon { daemon in
            let own = try daemon.home.trestle("explain", "Echo")
            #expect(own.end == .exited(0) && own.output.contains(#""allowed":true"#))
            let others = try daemon.home.trestle("explain", "bridge.status", "--as", "65534")
            #expect(others.end == .exited(1) && others.output.contains(#""allowed":false"#), "\(others.output)")
            let verb = try daemon.home.trestle("explain", "store", "1000:local", "--as", "65534", "--account", "ann")
            #expect(verb.end == .exited(1) && verb.output.contains(#""verb":"store""#), "\(verb.output)")
            let nobody = try daemon.home.trestle("explain", "Echo", "--as", "no such user")
            #expect(nobody.end == .exited(64) && nobody.errors.contains("no such user"), "\(nobody.errors)")
            #expect(try daemon.home.trestle("explain").end == .exited(64))
        }
    }

    @Test("cancel, config reload, user and plugin commands also work by their previous names")
    func names() throws {
        try withDaemon { daemon in
            for name in ["cancel", "kill"] {
                let unknown = try daemon.home.trestle(name, "999999")
                #expect(unknown.end == .exited(1) && unknown.errors.contains("999999"))
            }
            for command in [["config", "reload"], ["reload"]] {
                let run = try daemon.home.trestle(command)
                #expect(run.end == .exited(0) && run.output.hasPrefix(#"{"applied":[]"#), "\(run.errors)")
            }
            #expect(try daemon.home.trestle("user", "add", "ann", input: "a long password\n").end == .exited(0))
            for name in ["password", "passwd"] {
                let run = try daemon.home.trestle("user", name, "ann", input: "another \(name) of ann's\n")
                #expect(run.end == .exited(0), "\(run.errors)")
            }
            for name in ["list", "ls"] { #expect(try daemon.home.trestle("user", name).output.contains("ann")) }
            #expect(try daemon.home.trestle("user", "rm", "ann").end == .exited(0))
            // Compares only the names: the current state of the plugins changes from one call to the next.
            let plugins = try ["list", "ls"].map { name in
                try daemon.home.trestle("plugin", name).output.split(separator: "\n")
                    .map { try JSON(parsing: String($0))["name"] }
            }
            #expect(plugins[0] == plugins[1] && plugins[0].contains("echo"))
        }
    }

    @Test(
        "Every command exits with 124 and an error after --timeout, which may precede or follow its name",
        arguments: [
            ["subscribe", "lamp", "--timeout", "50ms"], ["--timeout", "50ms", "subscribe", "lamp"],
            ["monitor", "--timeout", "0.05"], ["register", "lamp.switch", "--timeout", "50ms", "--", "true"],
            ["top", "--timeout", "50ms", "--interval", "1h"],
        ])
    func timeout(arguments: [String]) throws {
        try withDaemon { daemon in
            let run = try daemon.home.trestle(arguments)
            #expect(run.end == .exited(124), "\(run.errors)")
            #expect(run.errors.contains("did not end within 50 ms"), "\(run.errors)")
            let json = try daemon.home.trestle(["--json"] + arguments)
            #expect(json.errors.hasPrefix(#"{"error":{"code":"call.timeout""#), "\(json.errors)")
            #expect(try daemon.home.trestle("--timeout", "1h", "call", "Echo", "1").output == "1\n")
            let short = try daemon.home.trestle("call", "Echo", "1", "--timeout", "soon")
            #expect(short.end == .exited(64))
        }
    }

    @Test("--quiet omits notes, but no result and no error")
    func quiet() throws {
        try withDaemon { daemon in
            let note = "no plugin declares the event login.chanhged; did you mean 'login.changed'?"
            let subscribe = ["subscribe", "login.chanhged", "--timeout", "1s"]
            let loud = try daemon.home.trestle(subscribe)
            #expect(loud.errors.contains(note), "\(loud.errors)")
            let quiet = try daemon.home.trestle(["--quiet"] + subscribe)
            #expect(!quiet.errors.contains(note) && quiet.errors.contains("call.timeout"), "\(quiet.errors)")
            let run = try daemon.home.trestle("call", "Echo", "1", "--quiet")
            #expect(run.output == "1\n" && run.errors == "")
        }
    }

    @Test("A call that a rule denies exits with 77")
    func denied() throws {
        let home = try DaemonHome()
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write("[[rule]]\ndeny = \"call\"\nnames = \"Echo\"\n", to: "policy.d/10.toml")
        try withDaemon(in: home) { daemon in
            let run = try home.trestle("call", "Echo", "1")
            #expect(run.end == .exited(77) && run.errors.contains("permission.denied"), "\(run.errors)")
        }
    }
}
