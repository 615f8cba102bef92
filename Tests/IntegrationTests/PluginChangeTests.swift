import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Where a plugin of a test runs.
enum SpecimenKind: String, CaseIterable, CustomTestStringConvertible {
    case inProcess = "in the daemon"
    case isolated = "in a process of its own"
    case executable = "an executable"

    var testDescription: String { rawValue }

    /// What the daemon's configuration says of the plugin.
    var configuration: String {
        switch self {
        case .inProcess: "[plugins.specimen]\nisolation = \"none\""
        case .isolated, .executable: ""
        }
    }

    /// Writes the plugin `specimen`, whose task `specimen` answers with the version, and perhaps other tasks.
    ///
    /// - Parameter begins: whether it starts.
    @discardableResult
    func write(to folder: TemporaryFolder, version: String = "1", task: String = "specimen", begins: Bool = true) throws
        -> String
    {
        switch self {
        case .executable:
            var process = PluginInPython(
                call: "say({\"callbackId\": id, \"result\": \"\(version)\"})", version: version)
            if task != "specimen" { process.call = "pass" }
            process.settings = task == "specimen" ? "" : "[[tasks]]\nname = \"\(task)\"\nsummary = \"Another one.\""
            if !begins { process.start = "os._exit(1)" }
            try process.write(to: folder)
            return folder.file("specimen.plugin.toml")
        case .inProcess, .isolated:
            let failure = """
                host->fail(host, request->call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI,
                    .code = text("internal"), .message = text("no ink"), .retry_after_ns = -1});
                """
            let library = PluginInC(
                task: task, version: version, start: begins ? "" : failure,
                call: #"host->reply(host, request->call, text("\"\#(version)\""));"#)
            // What is loaded must not change under its feet: another file takes the name.
            try library.build(in: folder, as: "new")
            let path = folder.file("libspecimen.so")
            guard rename(folder.file("new"), path) == 0 else { throw TestFailure("\(path) cannot be replaced") }
            return path
        }
    }
}

@Suite("Plugins that come and go while the daemon serves", .blocking)
struct PluginChangeTests {
    private func reload(_ client: Wire) throws -> JSON {
        try client.call("bridge.plugin.reload", ["name": "specimen"])
    }

    private func plugins(_ client: Wire) throws -> [JSON] {
        try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
    }

    /// The plugin that is there once the ones before it have gone.
    private func theOne(_ client: Wire) throws -> JSON? {
        try client.result("bridge.plugins") { $0["plugins"]?.arrayValue?.count == 1 }["plugins"]?[0]
    }

    @Test(
        "10,000 calls while the plugin is replaced 50 times: each gets one good callback, by the old one or the new one",
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
        "a bad version is refused with the reason, and the one that is there stays", arguments: SpecimenKind.allCases)
    func badVersion(kind: SpecimenKind) throws {
        let folder = try TemporaryFolder()
        let path = try kind.write(to: folder)
        try withDaemon(kind.configuration, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try kind.write(to: folder, version: "2", begins: false)
            let failed = try reload(client)["error"]
            #expect(failed?["code"] == "plugin.unavailable", "\(failed ?? nil)")
            #expect(failed?["message"]?.stringValue?.contains("the plugin specimen stays as it is") == true)
            #expect(try client.result("specimen") == "1")
            try folder.write("no plugin", to: path.split(separator: "/").last.map(String.init) ?? "")
            #expect(try reload(client)["error"]?["code"] == "plugin.unavailable")
            #expect(try client.result("specimen") == "1")
            unlink(path)
            #expect(try reload(client)["error"]?["code"] == "plugin.unavailable")
            try kind.write(to: folder, version: "3", task: "bridge.ping")
            let taken = try reload(client)["error"]
            #expect(taken?["message"]?.stringValue?.contains("bridge.ping") == true)
            #expect(try client.result("specimen") == "1")
            #expect(try theOne(client)?["state"] == "running")
        }
    }

    @Test(
        "a version with other tasks takes over: the new ones can be called, the old ones are gone",
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
            let answer = try reload(client)
            #expect(answer["result"] == ["name": "specimen", "version": "2", "tasks": ["more"]], "\(answer)")
            #expect(try client.result("more") == 2)
            #expect(try client.call("specimen")["error"]?["code"] == "task.not_found")
            #expect(try theOne(client)?["tasks"] == ["more"])
        }
    }

    @Test("one is loaded by its path, unloaded by its name, and may come again", arguments: SpecimenKind.allCases)
    func loadAndUnload(kind: SpecimenKind) throws {
        let (folder, empty) = (try TemporaryFolder(), try TemporaryFolder())
        let path = try kind.write(to: folder)
        let home = try DaemonHome(pluginDirectory: empty.path)
        try withDaemon(in: home) { daemon in
            try home.write(configuration: kind.configuration)
            let client = try daemon.connect()
            let listener = try daemon.connect()
            _ = try listener.result("bridge.subscribe", ["events": ["plugin.*"]])
            for round in 0..<3 {
                #expect(try client.call("specimen")["error"]?["code"] == "task.not_found")
                let loaded = try client.call("bridge.plugin.load", ["path": .string(path)])
                #expect(loaded["result"]?["name"] == "specimen" && loaded["result"]?["version"] == "1", "\(loaded)")
                #expect(try listener.receive()["event"] == "plugin.started")
                #expect(try client.result("specimen") == "1", "\(round)")
                let again = try client.call("bridge.plugin.load", ["path": .string(path)])["error"]
                #expect(again?["code"] == "plugin.unavailable")
                // Where the configuration has a section for it, whoever takes it away for good has to know.
                let unloaded: JSON = kind == .inProcess ? ["configured": true] : [:]
                #expect(try client.result("bridge.plugin.unload", ["name": "specimen"]) == unloaded)
                #expect(
                    try listener.receive() == [
                        "event": "plugin.stopped", "data": ["name": "specimen", "version": "1"],
                    ])
                #expect(try plugins(client).isEmpty)
            }
        }
    }

    @Test("what cannot be loaded is told, and leaves nothing behind")
    func badLoads() throws {
        let (folder, empty) = (try TemporaryFolder(), try TemporaryFolder())
        let home = try DaemonHome(pluginDirectory: empty.path)
        try withDaemon(in: home) { daemon in
            try home.write(configuration: "[plugins]\ndisabled = [\"specimen\"]")
            let client = try daemon.connect()
            func refusal(_ path: String) throws -> JSON? {
                try client.call("bridge.plugin.load", ["path": .string(path)])["error"]
            }
            #expect(try refusal("lib.so")?["data"]?["path"] == "$.path")
            #expect(try refusal("/etc/passwd")?["code"] == "options.invalid")
            #expect(try refusal(folder.file("none.so"))?["message"]?.stringValue?.contains("No such file") == true)
            let disabled = try refusal(SpecimenKind.isolated.write(to: folder))
            #expect(disabled?["message"]?.stringValue?.contains("disables the plugin specimen") == true)
            try home.write(configuration: "socket = 1")
            #expect(try refusal(folder.file("libspecimen.so"))?["code"] == "configuration.invalid")
            for task in ["bridge.plugin.unload", "bridge.plugin.reload"] {
                #expect(try client.call(task, ["name": "none"])["error"]?["data"]?["path"] == "$.name")
            }
            #expect(try plugins(client).isEmpty)
        }
    }

    @Test("what is unloaded takes no more calls, and finishes those that it has first")
    func drain() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        var process = PluginInPython()
        process.call = """
            import threading
            threading.Thread(target=lambda: (\(gate.python), say({"callbackId": id, "result": m["options"]}))).start()
            """
        try process.write(to: folder)
        try withDaemon("stop_timeout = \"10m\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","options":"slow","callbackId":1}"#)
            try client.send(#"{"task":"bridge.plugin.unload","options":{"name":"specimen"},"callbackId":2}"#)
            let other = try daemon.connect()
            _ = try other.result("bridge.tasks") { tasks in
                tasks["tasks"]?.arrayValue?.contains { $0["name"] == "specimen" } == false
            }
            #expect(try other.call("specimen")["error"]?["code"] == "task.not_found")
            gate.open()
            #expect(try client.receive() == ["callbackId": 1, "result": "slow"])
            #expect(try client.receive() == ["callbackId": 2, "result": [:]])
        }
    }

    @Test("calls that what is unloaded does not finish within stop_timeout end with plugin.unavailable")
    func overdue() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.call = "pass"
        try process.write(to: folder)
        try withDaemon("stop_timeout = \"1s\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","callbackId":1}"#)
            try client.send(#"{"task":"bridge.plugin.unload","options":{"name":"specimen"},"callbackId":2}"#)
            let ended = try client.receive()
            #expect(ended["callbackId"] == 1 && ended["error"]?["code"] == "plugin.unavailable", "\(ended)")
            #expect(ended["error"]?["data"]?["started"] == true)
            #expect(try client.receive() == ["callbackId": 2, "result": [:]])
        }
    }

    @Test("a daemon that is told to stop while an old version finishes ends its calls, and stops it once")
    func stopWhileFinishing() throws {
        let folder = try TemporaryFolder()
        let stopped = folder.file("stopped")
        var process = PluginInPython()
        process.call = """
            if m["options"] == "stay": return
            say({"callbackId": id, "result": m["options"]})
            """
        process.other = "if task == \"plugin.stop\": open(\"\(stopped)\", \"a\").write(\"stopped\\n\")"
        try process.write(to: folder)
        try withDaemon("drain_timeout = \"100ms\"\nstop_timeout = \"10s\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","options":"stay","callbackId":1}"#)
            _ = try reload(client)
            #expect(try client.result("specimen", 2) == 2)
            #expect(try daemon.stop() == .exited(0))
            #expect(try client.receive()["callbackId"] == 1)
            #expect(contents(of: stopped) == "stopped\nstopped\n")
        }
    }

    @Test("a daemon that is told to stop does not wait for a version that was about to come")
    func stopMeanwhile() throws {
        let folder = try TemporaryFolder()
        try PluginInPython().write(to: folder)
        try withDaemon("plugin_timeout = \"10m\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let started = folder.file("started")
            try PluginInPython(hello: "(open(\"\(started)\", \"w\").close(), signal.pause())[1]").write(to: folder)
            try client.send(#"{"task":"bridge.plugin.reload","options":{"name":"specimen"}}"#)
            _ = try client.result("bridge.ping") { _ in access(started, F_OK) == 0 }
            #expect(try daemon.stop() == .exited(0))
        }
    }

    @Test(
        "who is logged in and who watches a table does not notice that the plugin was replaced",
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

    @Test("a plugin that keeps sessions is replaced where it knows of none, too", arguments: [false, true])
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

    @Test(
        "where plugin_watch is true, a file that comes is loaded, one that changes loaded anew, one that goes unloaded",
        arguments: SpecimenKind.allCases)
    func watched(kind: SpecimenKind) throws {
        let folder = try TemporaryFolder()
        let home = try DaemonHome("plugin_watch = true", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            try home.write(configuration: "plugin_watch = true\n" + kind.configuration)
            let client = try daemon.connect()
            let listener = try daemon.connect()
            _ = try listener.result("bridge.subscribe", ["events": ["plugin.*"]])
            for version in ["1", "2"] {
                let path = try kind.write(to: folder, version: version)
                #expect(
                    try listener.receive()
                        == ["event": "plugin.started", "data": ["name": "specimen", "version": .string(version)]])
                #expect(try client.result("specimen") == .string(version))
                if version == "1" { continue }
                try kind.write(to: folder, version: "3", begins: false)
                try daemon.awaitLog("the plugin specimen stays as it is", client)
                #expect(try client.result("specimen") == "2")
                unlink(path)
                #expect(try listener.receive()["event"] == "plugin.stopped")
                #expect(try client.call("specimen")["error"]?["code"] == "task.not_found")
            }
            try folder.write("no library", to: "libother.so")
            try daemon.awaitLog("libother.so is not used: ", client)
            #expect(try plugins(client).map { $0["state"] } == ["refused"])
            unlink(folder.file("libother.so"))
            _ = try client.result("bridge.plugins") { $0["plugins"] == [] }
        }
    }

    @Test("a plugin process is loaded anew when the program changes that its manifest names")
    func watchedProgram() throws {
        let folder = try TemporaryFolder()
        try PluginInPython(call: #"say({"callbackId": id, "result": "old"})"#).write(to: folder)
        let home = try DaemonHome("plugin_watch = true", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("specimen") == "old")
            let other = try TemporaryFolder()
            try PluginInPython(call: #"say({"callbackId": id, "result": "new"})"#).write(to: other)
            #expect(rename(other.file("specimen.py"), folder.file("specimen.py")) == 0)
            _ = try client.result("specimen") { $0 == "new" }
        }
    }
}
