import BridgeJSON
import TestSupport
import Testing

// The start of a plugin process.
extension PluginProcessTests {
    @Test("with a long hello starts")
    func longHello() throws {
        try withPluginProcess(PluginInPython(hello: #"{"more": ["x"] * 50000}"#)) { _, client in
            let result = try client.result("specimen", 1)
            #expect(result == 1)
        }
    }

    @Test("that does not start is refused with the reason, and the daemon continues")
    func noStart() throws {
        for (process, words) in [
            (PluginInPython(start: "os._exit(9)"), "exit status 9"),
            (PluginInPython(hello: #"{"protocol": {"version": "2.0"}}"#), "version 2.0"),
            (PluginInPython(hello: #"{"tasks": 5}"#, settings: ""), "specimen"),
        ] {
            try withPluginProcess(process) { _, client in
                let plugin = try plugin(client)
                if words == "specimen" {
                    // The manifest has precedence over the process.
                    #expect(plugin?["name"] == "specimen")
                } else {
                    #expect(plugin?["state"] == "refused")
                    #expect(plugin?["error"]?.stringValue?.contains(words) == true, "\(plugin ?? nil)")
                }
            }
        }
    }

    @Test("with an invalid manifest is refused with file, line and expectation")
    func manifests() throws {
        for (text, words) in [
            ("command = 5", "1:11: command: expected"),
            ("comand = [\"./x\"]", "unknown key"),
            ("command = [\"./x\"]\n[limits]\nmemory = \"much\"", "3:10: limits.memory"),
            ("command = []", "a program and its arguments"),
            ("command = [\"./none\"]", "cannot be started"),
            ("command = [", "bad.plugin.toml:1"),
            ("command = [\"./x\"]\n[[tasks]]\nname = \"a\"", "summary"),
        ] {
            let folder = try TemporaryFolder()
            try folder.write(text, to: "bad.plugin.toml")
            try withDaemon(pluginDirectory: folder.path) { daemon in
                let refused = try plugin(daemon.connect())
                #expect(refused?["state"] == "refused")
                #expect(refused?["error"]?.stringValue?.contains(words) == true, "\(text): \(refused ?? nil)")
            }
        }
    }
}
