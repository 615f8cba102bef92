import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Errors that a plugin did not define: the texts of libraries and of the system.
@Suite("An unforeseen error of a plugin", .blocking)
struct UnforeseenErrorTests {
    /// A plugin that fails with the name of a file and an error text of the system.
    enum Failing: String, CaseIterable, CustomTestStringConvertible {
        case swift = "fixture.fail"
        case c = "specimen"
        case python = "python"

        var testDescription: String { rawValue }
        static let words = "/var/lib/secret/records.sqlite: Permission denied"

        var plugin: String { self == .swift ? "fixture" : rawValue }

        func put(into folder: TemporaryFolder) throws {
            switch self {
            case .swift: try HostilePlugin.putFixture(into: folder)
            case .c:
                // The options determine whether the author chose the text.
                let plugin = PluginInC(
                    call: """
                        int chosen = memchr(request->options.data, 't', request->options.size) != 0;
                        host->fail(host, request->call, &(trestle_error){
                            .size = sizeof(trestle_error), .abi = TRESTLE_ABI, .retry_after_ns = -1,
                            .code = text(chosen ? "fixture.chosen" : ""),
                            .message = text(chosen ? "The author chose this sentence." : "\(Self.words)"),
                            .flags = chosen ? 0 : TRESTLE_ERROR_UNFORESEEN});
                        """)
                try plugin.build(in: folder)
            case .python:
                try folder.write(
                    """
                    import sys
                    sys.path.insert(0, "\(Paths.package)/Clients/Python")
                    from trestle_bridge import BridgeError, Plugin

                    plugin = Plugin()

                    @plugin.task("python", summary="Fails.")
                    def fail(options, call):
                        if options["c"] == "t":
                            raise BridgeError("fixture.chosen", "The author chose this sentence.")
                        raise OSError("\(Self.words)")

                    plugin.run()
                    """, to: "python.py")
                try folder.write("command = [\"python3\", \"python.py\"]", to: "python.plugin.toml")
            }
        }

        func options(isChosen: Bool) -> JSON {
            self == .swift ? ["chosen": .bool(isChosen)] : ["c": isChosen ? "t" : "-"]
        }

        var isolations: [Isolation] { self == .python ? [.process] : [.daemon, .process] }
    }

    private static let cases = Failing.allCases.flatMap { failing in failing.isolations.map { (failing, $0) } }

    @Test("has its text for the daemon's own user, and is in the log with the same id", arguments: cases)
    func trusted(failing: Failing, isolation: Isolation) throws {
        let folder = try TemporaryFolder()
        try failing.put(into: folder)
        try withDaemon(isolation.section(failing.plugin), pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let error = try client.call(failing.rawValue, failing.options(isChosen: false))["error"]
            #expect(error?["code"] == "internal")
            #expect(error?["message"]?.stringValue?.contains(Failing.words) == true, "\(error ?? nil)")
            #expect(error?["unforeseen"] == nil)
            let id = try #require(error?["data"]?["error"]?.stringValue)
            try daemon.awaitLog(id, client)
            let line = daemon.log.split(separator: "\n").first { $0.contains("unexpected error") }
            #expect(line?.contains(id) == true && line?.contains(Failing.words) == true, "\(line ?? "")")
            // An error that the author chose is sent unchanged to every user.
            let chosen = try client.call(failing.rawValue, failing.options(isChosen: true))["error"]
            #expect(chosen == ["code": "fixture.chosen", "message": "The author chose this sentence."])
        }
    }

    @Test(
        "has for another user only its code and the id of its log entry",
        .enabled(if: AnotherUser.isPossible, "needs root, setpriv and socat"), arguments: cases)
    func untrusted(failing: Failing, isolation: Isolation) throws {
        let folder = try TemporaryFolder()
        try failing.put(into: folder)
        let home = try DaemonHome(
            "socket_mode = \"0666\"\n\(isolation.section(failing.plugin))", pluginDirectory: folder.path)
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write(
            "[[rule]]\nallow = \"call\"\nnames = [\"\(failing.rawValue)\"]\nuid = 12345\n", to: "policy.d/10.toml")
        try withDaemon(in: home) { daemon in
            let calls: [JSON] = [false, true].map {
                [
                    "task": .string(failing.rawValue), "callbackId": .string("\($0)"),
                    "options": failing.options(isChosen: $0),
                ]
            }
            let answers = try AnotherUser.talk(calls.map { $0.text + "\n" }.joined(), uid: 12_345, to: daemon).output
                .split(separator: "\n").map { try JSON(parsing: String($0)) }
            let error = answers.first { $0["callbackId"] == "false" }?["error"]
            #expect(error?["code"] == "internal")
            let id = try #require(error?["data"]?["error"]?.stringValue, "\(error ?? nil)")
            let words = "the task failed with an unexpected error; see error=\(id) in the daemon's log"
            #expect(error == ["code": "internal", "message": .string(words), "data": ["error": .string(id)]])
            try daemon.awaitLog(id, daemon.connect())
            let line = daemon.log.split(separator: "\n").first { $0.contains(id) }
            #expect(line?.contains(Failing.words) == true, "\(daemon.log)")
            let chosen = answers.first { $0["callbackId"] == "true" }?["error"]
            #expect(chosen == ["code": "fixture.chosen", "message": "The author chose this sentence."])
        }
    }
}
