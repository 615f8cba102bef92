import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Sessions of root or of the daemon's user that represent a page. They do not have the rights of their user.
@Suite("A session that represents an origin", .blocking)
struct PageSessionTests {
    private static let origin = "app://page"

    /// A plugin whose task `rawValue` answers with `trusted`, `origin` and `uid` of its caller.
    enum Witness: String, CaseIterable, CustomTestStringConvertible {
        case swift = "fixture.caller"
        case c = "specimen"
        case python = "witness"

        var testDescription: String { rawValue }
        var plugin: String { self == .swift ? "fixture" : rawValue }
        var isolations: [Isolation] { self == .python ? Isolation.apart : Isolation.allCases }

        func put(into folder: TemporaryFolder) throws {
            switch self {
            case .swift: try HostilePlugin.putFixture(into: folder)
            case .c:
                var plugin = PluginInC()
                plugin.definitions = "#include <stdio.h>"
                plugin.call = """
                    const trestle_caller *c = request->caller;
                    char answer[256];
                    snprintf(answer, sizeof answer, "{\\"trusted\\":%s,\\"origin\\":\\"%.*s\\",\\"uid\\":%u}",
                        c->flags & TRESTLE_CALLER_TRUSTED ? "true" : "false", (int)c->origin.size, c->origin.data, c->uid);
                    host->reply(host, request->call, text(answer));
                    """
                try plugin.build(in: folder)
            case .python:
                try folder.write(
                    """
                    import sys
                    sys.path.insert(0, "\(Paths.package)/Clients/Python")
                    from trestle_bridge import Plugin

                    plugin = Plugin()

                    @plugin.task("witness", summary="Answers with its caller.")
                    def witness(options, call):
                        caller = call.caller
                        return {"trusted": caller.trusted, "origin": caller.origin, "uid": caller.uid}

                    plugin.run()
                    """, to: "witness.py")
                try folder.write("command = [\"python3\", \"witness.py\"]", to: "witness.plugin.toml")
            }
        }
    }

    private static let cases = Witness.allCases.flatMap { witness in witness.isolations.map { (witness, $0) } }

    /// Returns the paths of a daemon with these rules.
    private func home(_ rules: String, _ configuration: String = "", plugins: String? = nil) throws -> DaemonHome {
        let home = try DaemonHome(configuration, pluginDirectory: plugins)
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write(rules, to: "policy.d/10.toml")
        return home
    }

    @Test("is not trusted by plugins, although its user is the daemon's", arguments: cases)
    func witness(witness: Witness, isolation: Isolation) throws {
        let folder = try TemporaryFolder()
        try witness.put(into: folder)
        let rule = "[[rule]]\nallow = \"call\"\nnames = \"\(witness.rawValue)\"\norigin = \"\(Self.origin)\"\n"
        try withDaemon(in: home(rule, isolation.section(witness.plugin), plugins: folder.path)) { daemon in
            let uid = JSON.number(JSONNumber(UInt64(geteuid())))
            func expect(_ client: Wire, isTrusted: Bool, _ origin: String) throws {
                let wanted: JSON = ["trusted": .bool(isTrusted), "origin": .string(origin), "uid": uid]
                #expect(try client.result(witness.rawValue) == wanted)
            }
            let (page, other) = try (daemon.connect(), daemon.connect())
            // The session is trusted until it sends the origin.
            try expect(page, isTrusted: true, "local")
            _ = try page.result("bridge.hello", ["origin": .string(Self.origin)])
            try expect(page, isTrusted: false, Self.origin)
            try expect(other, isTrusted: true, "local")
            try expect(page, isTrusted: false, Self.origin)
        }
    }

    @Test(
        "can close itself, but not other sessions; nor can another user do so", arguments: ["none", "process"])
    func closing(isolation: String) throws {
        let rules = """
            [[rule]]
            allow = "call"
            names = ["bridge.hello", "bridge.ping", "closeWeb", "bridge.session.close"]
            origin = "\(Self.origin)"
            [[rule]]
            allow = "call"
            names = ["closeWeb", "bridge.*"]
            uid = 12345
            """
        let configuration = "socket_mode = \"0666\"\n[plugins.closeweb]\nisolation = \"\(isolation)\""
        try withDaemon(in: home(rules, configuration)) { daemon in
            let (victim, page) = try (daemon.connect(), daemon.connect())
            let number = try #require(try victim.result("bridge.hello")["session"])
            _ = try page.result("bridge.hello", ["origin": .string(Self.origin)])
            let refused = try page.call("closeWeb", ["session": number])["error"]
            #expect(refused?["code"] == "permission.denied", "\(refused?.text ?? "")")
            // Tasks for plugins do not exist for clients, not even for root.
            for client in [page, victim] {
                let error = try client.call("bridge.session.close", ["session": number])["error"]
                #expect(error?["code"] == "task.not_found")
            }
            if AnotherUser.isPossible {
                let call: JSON = ["task": "closeWeb", "options": ["session": number], "callbackId": 1]
                let answer = try JSON(parsing: AnotherUser.talk(call.text + "\n", uid: 12_345, to: daemon).output)
                #expect(answer["error"]?["code"] == "permission.denied", "\(answer.text)")
            }
            #expect(try victim.call("bridge.ping")["result"] != nil)
            #expect(try page.call("closeWeb")["result"] != nil)
            let administrator = try daemon.connect()
            #expect(try administrator.call("closeWeb", ["session": number])["result"] != nil)
            #expect(try victim.receive()["event"] == "web.close")
        }
    }
}
