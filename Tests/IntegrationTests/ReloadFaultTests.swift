import BridgeJSON
import TestSupport
import Testing

@Suite("A configuration that is read again while a plugin has no process", .blocking)
struct ReloadFaultTests {
    /// A daemon whose plugin `specimen` was given up.
    private func withGivenUpProcess(_ body: (DaemonProcess, Wire) throws -> Void) throws {
        let folder = try TemporaryFolder()
        try PluginInPython(call: "os._exit(3)").write(to: folder)
        let home = try DaemonHome("[plugins.specimen]\nx = 1", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            for _ in 1...5 { #expect(try client.call("specimen")["error"]?["code"] == "plugin.crashed") }
            #expect(try client.call("specimen")["error"]?["code"] == "plugin.unavailable")
            try body(daemon, client)
        }
    }

    @Test("holds all the same, where that plugin's section is as it was")
    func sectionAsItWas() throws {
        try withGivenUpProcess { daemon, client in
            try daemon.home.write(configuration: "log_level = \"error\"\n[plugins.specimen]\nx = 1")
            #expect(try client.result("bridge.reload")["restart"] == [])
            #expect(try client.result("bridge.plugin.reload", ["name": "specimen"])["version"] == "1")
            #expect(try client.result("specimen.good", 1) == 1)
        }
    }

    @Test("is refused where that plugin's section has changed, because nobody can say whether it is good")
    func changedSection() throws {
        try withGivenUpProcess { daemon, client in
            try daemon.home.write(configuration: "[plugins.specimen]\nx = 2")
            let error = try client.call("bridge.reload")["error"]
            #expect(error?["code"] == "configuration.invalid")
            #expect(error?["data"]?["problems"]?[0]?["key"] == "plugins.specimen")
            // The plugin can be asked again once it is there again.
            #expect(try client.result("bridge.plugin.reload", ["name": "specimen"])["version"] == "1")
            #expect(try client.result("specimen.good", 1) == 1)
            #expect(try client.call("bridge.reload")["error"] == nil)
        }
    }

    @Test("has no say in what the next process gets, where the process before refused it")
    func refusedSection() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.hello = #"{"reloadable": True}"#
        process.start = "section = None"
        // It finds fault with a section only when it is to take it.
        process.other = """
            if task == "plugin.configure": section = m["options"]
            if task == "plugin.reconfigure":
                say({"callbackId": id, "error": {"code": "configuration.invalid", "message": "No."}})
                continue
            if task in ("plugin.configure", "plugin.check"):
                say({"callbackId": id, "result": {}})
                continue
            if task == "specimen.good":
                say({"callbackId": id, "result": section})
                continue
            """
        process.call = "os._exit(3)"
        try process.write(to: folder)
        let home = try DaemonHome("[plugins.specimen]\nx = 1", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("specimen.good") == ["x": 1])
            try daemon.home.write(configuration: "[plugins.specimen]\nx = 2")
            #expect(try client.call("bridge.reload")["error"] != nil)
            #expect(try client.call("specimen")["error"]?["code"] == "plugin.crashed")
            #expect(try client.result("specimen.good") == ["x": 1])
        }
    }
}
