import BridgeJSON
import TestSupport
import Testing

@Suite("A configuration that is reloaded while a plugin has no process", .blocking)
struct ReloadFaultTests {
    /// Runs `body` with a daemon whose plugin `specimen` was abandoned after crashes.
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

    @Test("is applied if the section of this plugin is unchanged")
    func sectionAsItWas() throws {
        try withGivenUpProcess { daemon, client in
            try daemon.home.write(configuration: "log_level = \"error\"\n[plugins.specimen]\nx = 1")
            #expect(try client.result("bridge.reload")["restart"] == [])
            #expect(try client.result("bridge.plugin.reload", ["name": "specimen"])["version"] == "1")
            #expect(try client.result("specimen.good", 1) == 1)
        }
    }

    @Test("is refused if the section of this plugin has changed, since the plugin cannot check it")
    func changedSection() throws {
        try withGivenUpProcess { daemon, client in
            try daemon.home.write(configuration: "[plugins.specimen]\nx = 2")
            let error = try client.call("bridge.reload")["error"]
            #expect(error?["code"] == "configuration.invalid")
            #expect(error?["data"]?["problems"]?[0]?["key"] == "plugins.specimen")
            // The plugin can check its section again once it is running.
            #expect(try client.result("bridge.plugin.reload", ["name": "specimen"])["version"] == "1")
            #expect(try client.result("specimen.good", 1) == 1)
            #expect(try client.call("bridge.reload")["error"] == nil)
        }
    }

    @Test("does not change the section of the next process if the previous process refused it")
    func refusedSection() throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        process.hello = #"{"reloadable": True}"#
        process.start = "section = None"
        // The plugin accepts a section in its check and refuses it when it must apply it.
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
