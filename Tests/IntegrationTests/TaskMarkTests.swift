import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Policy and interceptors of a plugin's task", .blocking)
struct TaskMarkTests {
    @Test(
        "are known to the plugin at its next call, when they are added and when they are removed",
        arguments: ["none", "process"])
    func marks(isolation: String) throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try HostilePlugin.putFixture(into: folder)
        var interceptor = PluginInC()
        interceptor.interceptors = #"{"name":"specimen.look","summary":"Looks.","tasks":["fixture.marks"]}"#
        let path = try interceptor.build(in: other)
        let home = try DaemonHome("[plugins.fixture]\nisolation = \"\(isolation)\"", pluginDirectory: folder.path)
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("fixture.marks") == 0)
            mkdir(home.folder.file("policy.d"), 0o755)
            try home.folder.write("[[rule]]\nallow = \"reach\"\nuid = 7", to: "policy.d/10.toml")
            #expect(try client.result("bridge.reload")["applied"] == ["policy"])
            #expect(try client.result("fixture.marks") == 2)
            #expect(try client.result("bridge.plugin.load", ["path": .string(path)])["name"] == "specimen")
            #expect(try client.result("fixture.marks") == 3)
            if isolation == "process" { try replaceProcess(client, try daemon.connect()) }
            #expect(try client.result("fixture.marks") == 3)
            _ = try client.result("bridge.plugin.unload", ["name": "specimen"])
            #expect(try client.result("fixture.marks") == 2)
            #expect(unlink(home.folder.file("policy.d/10.toml")) == 0)
            #expect(try client.result("bridge.reload")["applied"] == ["policy"])
            #expect(try client.result("fixture.marks") == 0)
        }
    }

    /// Kills the plugin's process. The next call waits for the new process.
    private func replaceProcess(_ client: Wire, _ listener: Wire) throws {
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        let pid = plugins.first { $0["name"] == "fixture" }?["pid"]?.int64Value
        _ = try listener.result("bridge.subscribe", ["events": ["plugin.crashed"]])
        #expect(kill(pid_t(try #require(pid)), SIGKILL) == 0)
        #expect(try listener.receive()["event"] == "plugin.crashed")
    }
}
