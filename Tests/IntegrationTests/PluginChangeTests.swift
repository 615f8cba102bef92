import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Plugins that are replaced while the daemon serves calls", .blocking)
struct PluginChangeTests {
    /// Returns the plugin once the versions before it have been removed.
    private func theOne(_ client: Wire) throws -> JSON? {
        try client.result("bridge.plugins") { $0["plugins"]?.arrayValue?.count == 1 }["plugins"]?[0]
    }

    @Test(
        "10,000 calls during 50 reloads of the plugin get one result each, from the old version or the new one",
        arguments: SpecimenKind.allCases)
    func calls(kind: SpecimenKind) throws {
        let folder = try TemporaryFolder()
        try kind.write(to: folder, version: "0")
        try withDaemon(kind.configuration, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            for round in 1...50 {
                try kind.write(to: folder, version: "\(round)")
                for id in 0..<100 { try client.send(#"{"task":"specimen","callbackId":\#(id)}"#) }
                try client.send(#"{"task":"bridge.plugin.reload","options":{"name":"specimen"},"callbackId":"r"}"#)
                for id in 100..<200 { try client.send(#"{"task":"specimen","callbackId":\#(id)}"#) }
                var answered: Set<Int64> = []
                for _ in 0..<201 {
                    let callback = try client.receive()
                    if callback["callbackId"] == "r" {
                        #expect(callback["result"]?["version"] == .string("\(round)"), "\(callback)")
                    } else {
                        let version = callback["result"]?.stringValue.flatMap(Int.init)
                        #expect(version == round || version == round - 1, "\(callback)")
                        if let id = callback["callbackId"]?.int64Value { answered.insert(id) }
                    }
                }
                #expect(answered.count == 200)
                #expect(try client.result("specimen") == .string("\(round)"))
            }
            let plugin = try theOne(client)
            #expect(plugin?["version"] == "50" && plugin?["restarts"] == 0)
            let task = try client.result("bridge.status")["tasks"]?.arrayValue?.first { $0["name"] == "specimen" }
            #expect(task?["calls"] == 10_050 && task?["errors"] == 0 && task?["inFlight"] == 0, "\(task ?? nil)")
        }
    }

    @Test(
        "an invalid version is refused with the reason; the running one stays", arguments: SpecimenKind.allCases)
    func badVersion(kind: SpecimenKind) throws {
        let folder = try TemporaryFolder()
        let path = try kind.write(to: folder)
        try withDaemon(kind.configuration, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try kind.write(to: folder, version: "2", begins: false)
            let failed = try client.reloadSpecimen()["error"]
            #expect(failed?["code"] == "plugin.unavailable", "\(failed ?? nil)")
            #expect(failed?["message"]?.stringValue?.contains("the plugin specimen is unchanged") == true)
            #expect(try client.result("specimen") == "1")
            try folder.write("no plugin", to: path.split(separator: "/").last.map(String.init) ?? "")
            #expect(try client.reloadSpecimen()["error"]?["code"] == "plugin.unavailable")
            #expect(try client.result("specimen") == "1")
            unlink(path)
            #expect(try client.reloadSpecimen()["error"]?["code"] == "plugin.unavailable")
            try kind.write(to: folder, version: "3", task: "bridge.ping")
            let taken = try client.reloadSpecimen()["error"]
            #expect(taken?["message"]?.stringValue?.contains("bridge.ping") == true)
            #expect(try client.result("specimen") == "1")
            #expect(try theOne(client)?["state"] == "running")
        }
    }

    @Test(
        "a version with other tasks replaces the tasks of the old one",
        arguments: SpecimenKind.allCases)
    func otherTasks(kind: SpecimenKind) throws {
        let folder = try TemporaryFolder()
        try kind.write(to: folder)
        try withDaemon(kind.configuration, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.call("more")["error"]?["code"] == "task.not_found")
            var library = PluginInC(task: "more", version: "2")
            library.call = #"host->reply(host, request->call, text("2"));"#
            if kind == .executable {
                try folder.write(
                    """
                    import sys
                    sys.path.insert(0, "\(Paths.package)/Clients/Python")
                    from trestle_bridge import Plugin
                    plugin = Plugin(version="2")
                    @plugin.task("more", summary="More.")
                    def more(options, call):
                        return 2
                    plugin.run()
                    """, to: "more.py")
                try folder.write("command = [\"python3\", \"more.py\"]", to: "specimen.plugin.toml")
            } else {
                try library.build(in: folder, as: "libspecimen.so")
            }
            let answer = try client.reloadSpecimen()
            #expect(answer["result"] == ["name": "specimen", "version": "2", "tasks": ["more"]], "\(answer)")
            #expect(try client.result("more") == 2)
            #expect(try client.call("specimen")["error"]?["code"] == "task.not_found")
            #expect(try theOne(client)?["tasks"] == ["more"])
        }
    }

    @Test(
        "logins and watches survive a reload of their plugins",
        arguments: [false, true])
    func sessions(isIsolated: Bool) throws {
        let names = ["persistence", "login"]
        let sections = names.map { "[plugins.\($0)]\nisolation = \"\(isIsolated ? "process" : "none")\"" }
        try withDaemon(sections.joined(separator: "\n")) { daemon in
            let client = try daemon.connect()
            _ = try client.result("login.users.add", ["user": "ada", "password": "correct horse"])
            _ = try client.result("login", ["user": "ada", "password": "correct horse"])
            _ = try client.result("persistence.watch", ["table": "notes"])
            for round in 1...3 {
                for name in names {
                    let answer = try client.call("bridge.plugin.reload", ["name": .string(name)])
                    #expect(answer["result"]?["name"] == .string(name), "\(answer)")
                }
                try client.send(
                    #"{"task":"persistence.create","options":{"table":"notes","key":"\#(round)","record":{}},"callbackId":1}"#
                )
                let messages = try [client.receive(), client.receive()]
                #expect(messages.contains { $0["result"]?["key"] == .string("\(round)") }, "\(messages)")
                #expect(messages.contains { $0["event"] == "record.changed" }, "\(messages)")
                #expect(try client.result("login.status")["user"] == "ada")
            }
        }
    }

    @Test("a plugin with session state is replaced even if it has no sessions", arguments: [false, true])
    func noSessions(isIsolated: Bool) throws {
        let names = ["persistence", "login", "echo"]
        let sections = names.map { "[plugins.\($0)]\nisolation = \"\(isIsolated ? "process" : "none")\"" }
        try withDaemon(sections.joined(separator: "\n")) { daemon in
            let client = try daemon.connect()
            for name in names {
                let answer = try client.call("bridge.plugin.reload", ["name": .string(name)])
                #expect(answer["result"]?["name"] == .string(name), "\(answer)")
            }
        }
    }
}
