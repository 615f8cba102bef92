import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Plugins whose files change, with plugin_watch", .blocking)
struct PluginWatchTests {
    @Test(
        "a new plugin file is loaded, a changed file reloads its plugin, a removed file unloads it",
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
                try daemon.awaitLog("the plugin specimen is unchanged", client)
                #expect(try client.result("specimen") == "2")
                unlink(path)
                #expect(try listener.receive()["event"] == "plugin.stopped")
                #expect(try client.call("specimen")["error"]?["code"] == "task.not_found")
            }
            try folder.write("no library", to: "libother.so")
            try daemon.awaitLog("libother.so is not used: ", client)
            #expect(try client.plugins().map { $0["state"] } == ["refused"])
            unlink(folder.file("libother.so"))
            _ = try client.result("bridge.plugins") { $0["plugins"] == [] }
        }
    }

    @Test("a plugin file that appears while the daemon starts is loaded")
    func early() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try PluginInPython(name: "second").write(to: other)
        // This plugin starts after the directory was searched, and before the daemon is ready.
        let moves = """
            for file in os.listdir("\(other.path)"): os.rename("\(other.path)/" + file, "\(folder.path)/" + file)
            """
        try PluginInPython(start: moves).write(to: folder)
        let home = try DaemonHome("plugin_watch = true", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            _ = try client.result("bridge.plugins") { plugins in
                plugins["plugins"]?.arrayValue?.map { $0["state"] } == ["running", "running"]
            }
            #expect(try client.result("second", ["a": 1]) == ["a": 1])
        }
    }

    @Test("a plugin process is reloaded when the program of its manifest changes")
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
