import BridgeJSON
import Glibc
import TestSupport
import Testing

extension ReloadTests {
    @Test("changes reloadable plugins; if one plugin refuses its section, none changes")
    func plugins() throws {
        try withDaemon("[plugins.alert]\npresenters = [\"log\"]") { daemon in
            let home = daemon.home
            let client = try daemon.connect()
            let shown = try client.result("Alert", ["content": "x"])
            #expect(shown["presenter"] == "log")
            try home.write(
                configuration: "[plugins.alert]\npresenters = [\"client\"]\n[plugins.persistence]\ntombstones = 5")
            let result = try client.result("bridge.reload")
            #expect(result["applied"] == ["plugins.alert.presenters"])
            #expect(result["restart"] == ["plugins.persistence.tombstones"])
            #expect(try client.call("Alert", ["content": "x"])["error"]?["code"] == "presenter.unavailable")
            // The plugin with the invalid section is not reloadable: its section is checked nevertheless.
            try home.write(
                configuration:
                    "[plugins.alert]\npresenters = [\"log\"]\n[plugins.persistence]\nfile = \"a/b\"\n[plugins.nobody]\n"
            )
            let problems = try client.call("bridge.reload")["error"]?["data"]?["problems"]?.arrayValue ?? []
            #expect(problems.map { $0["key"] } == ["plugins.persistence.file", "plugins.nobody"])
            try home.write(
                configuration:
                    "[plugins.alert]\npresenters = [\"log\"]\n[plugins.persistence]\nfile = \"a/b\"\n[plugins.login]\ntoken_days = 0"
            )
            let more = try client.call("bridge.reload")["error"]?["data"]?["problems"]?.arrayValue ?? []
            #expect(
                Set(more.compactMap { $0["key"]?.stringValue }) == [
                    "plugins.persistence.file", "plugins.login.token_days",
                ])
            #expect(more.contains { $0["line"] == 4 })
            #expect(try client.call("Alert", ["content": "x"])["error"]?["code"] == "presenter.unavailable")
            // Without a section, a plugin has its defaults again.
            try home.write(configuration: "")
            #expect(try client.result("bridge.reload")["applied"] == ["plugins.alert.presenters"])
            #expect(try client.result("Alert", ["content": "x"])["presenter"] == "log")
        }
    }

    @Test("restores a plugin's previous section if another plugin refuses to apply its own")
    func rollBack() throws {
        let folder = try TemporaryFolder()
        try SectionPlugin(name: "first").build(in: folder)
        try SectionPlugin(name: "second", refusal: "not today").build(in: folder)
        let home = try DaemonHome("[plugins.first]\nx = 1", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("first") == ["x": 1])
            try home.write(configuration: "log_level = \"error\"\n[plugins.first]\nx = 2\n[plugins.second]\nx = 2\n")
            let problems = try client.call("bridge.reload")["error"]?["data"]?["problems"]
            #expect(problems?[0]?["key"] == "plugins.second")
            #expect(problems?[0]?["reason"] == "not today")
            #expect(try client.result("first") == ["x": 1])
            #expect(try client.result("second") == [:])
            try home.write(configuration: "[plugins.first]\nx = 3")
            #expect(try client.result("bridge.reload")["applied"] == ["plugins.first.x"])
            #expect(try client.result("first") == ["x": 3])
        }
    }

    @Test("leaves plugins without support for it unchanged, and reports that they need a restart")
    func oldPlugins() throws {
        let folder = try TemporaryFolder()
        try PluginInC(size: "offsetof(trestle_plugin, save_sessions)").build(in: folder)
        let home = try DaemonHome(pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            try home.write(configuration: "[plugins.specimen]\nx = 1")
            let client = try daemon.connect()
            #expect(try client.result("bridge.reload")["restart"] == ["plugins.specimen.x"])
            #expect(try client.result("specimen") == "specimen")
        }
    }
}
