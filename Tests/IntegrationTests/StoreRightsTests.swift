import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Whether this process can run others as another user that calls the daemon.
private let canBeSomebodyElse = geteuid() == 0 && exists("/usr/bin/setpriv") && exists("/usr/bin/socat")

@Suite(
    "Access to data of another user", .blocking,
    .enabled(if: canBeSomebodyElse, "needs root, setpriv and socat"))
struct StoreRightsTests {
    private static let uid = 12_345

    /// Returns the outcomes of another user's calls: the code of an error, or "answered".
    private func outcomes(_ calls: [(task: String, options: String)], of daemon: DaemonProcess) throws -> [String] {
        let lines = calls.enumerated().map { id, call in
            "{\"task\":\"\(call.task)\",\"options\":\(call.options),\"callbackId\":\(id)}\n"
        }
        let run = try run(
            "/usr/bin/setpriv",
            [
                "--reuid", "\(Self.uid)", "--regid", "\(Self.uid)", "--clear-groups", "/usr/bin/socat", "-t", "30", "-",
                "UNIX-CONNECT:\(daemon.home.socketPath)",
            ], input: lines.joined())
        var outcomes = [String](repeating: "none", count: calls.count)
        for line in run.output.split(separator: "\n") {
            let answer = try JSON(parsing: String(line))
            guard let index = answer["callbackId"]?.int64Value else { continue }
            outcomes[Int(index)] = answer["error"]?["code"]?.stringValue ?? "answered"
        }
        return outcomes
    }

    private func rules(_ text: String, _ daemon: DaemonProcess, _ root: Wire) throws {
        mkdir(daemon.home.folder.file("policy.d"), 0o755)
        try daemon.home.folder.write(text, to: "policy.d/10.toml")
        #expect(try root.result("bridge.reload")["applied"] == ["policy"])
    }

    private let everyTask = """
        [[rule]]
        allow = "call"
        names = "*"
        uid = 12345

        """

    @Test(
        "requires a rule, in each isolation; access to one's own namespace by name does not",
        arguments: ["none", "process"])
    func persistence(_ isolation: String) throws {
        let configuration = "socket_mode = \"0666\"\n[plugins.persistence]\nisolation = \"\(isolation)\""
        try withDaemon(configuration) { daemon in
            let root = try daemon.connect()
            let record = #""table":"t","key":"a","record":{}"#
            _ = try root.result("persistence.create", try JSON(parsing: "{\(record)}"))
            let calls = [
                ("persistence.create", "{\(record)}"),
                ("persistence.read", #"{"table":"t","key":"a","namespace":"12345:local"}"#),
                ("persistence.read", #"{"table":"t","key":"a","namespace":"0:local"}"#),
                ("persistence.query", #"{"table":"t","namesp\u0061ce":"0:local"}"#),
                ("persistence.watch", #"{"table":"t","namespace":"0:local"}"#),
                ("persistence.update", #"{"table":"t","key":"a","patch":{},"namespace":"0:local"}"#),
                ("persistence.transaction", #"{"operations":[],"namespace":"0:local"}"#),
            ]
            try rules(everyTask, daemon, root)
            let denied = "permission.denied"
            #expect(
                try outcomes(calls, of: daemon) == ["answered", "answered", denied, denied, denied, denied, denied])
            try rules(
                everyTask + "[[rule]]\nallow = \"store\"\nnames = \"0:*\"\nuid = 12345\n", daemon, root)
            #expect(try outcomes(Array(calls.dropFirst()), of: daemon) == Array(repeating: "answered", count: 6))
            let other: JSON = ["table": "t", "key": "a", "namespace": "12345:local"]
            #expect(try root.result("persistence.read", other)["record"] == [:])
            try rules(everyTask + "[[rule]]\ndeny = \"store\"\nnames = \"12345:*\"\n", daemon, root)
            #expect(try root.call("persistence.read", other)["error"]?["code"] == "permission.denied")
        }
    }

    @Test(
        "requires a rule also for tasks of plugin processes, declared by manifest or process",
        arguments: [true, false])
    func pluginProcess(_ isInManifest: Bool) throws {
        let folder = try TemporaryFolder()
        var process = PluginInPython()
        if isInManifest {
            process.settings = """
                [[tasks]]
                name = "specimen.kept"
                summary = "Answers."
                public = true
                optionPermissions = { namespace = "store" }
                """
        } else {
            process.hello =
                #"{"tasks": [{"name": "specimen.kept", "summary": "s", "optionPermissions": {"namespace": "store"}}]}"#
        }
        process.other = #"if task == "specimen.kept": say({"callbackId": id, "result": 1}); continue"#
        try process.write(to: folder)
        if !isInManifest {
            try folder.write("command = [\"./specimen.py\"]\nversion = \"1\"\n", to: "specimen.plugin.toml")
        }
        try withDaemon("socket_mode = \"0666\"", pluginDirectory: folder.path) { daemon in
            let root = try daemon.connect()
            try rules(everyTask, daemon, root)
            let calls = ["{}", #"{"namespace":"12345:local"}"#, #"{"namespace":"0:local"}"#].map {
                ("specimen.kept", $0)
            }
            #expect(try outcomes(calls, of: daemon) == ["answered", "answered", "permission.denied"])
            #expect(try root.result("specimen.kept", ["namespace": "12345:local"]) == 1)
            let described = try root.result("bridge.describe", ["task": "specimen.kept"])
            #expect(described["optionPermissions"] == ["namespace": "store"])
            #expect(described["public"] == .bool(isInManifest))
        }
    }

    @Test("does not follow from a rule about the plugin's tasks: copying and account management need their own rules")
    func prefixes() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let root = try daemon.connect()
            let rule = "[[rule]]\nallow = \"call\"\nuid = 12345\nnames = "
            try rules(rule + "[\"persistence.*\", \"login*\"]\n", daemon, root)
            let calls = [
                ("persistence.query", #"{"table":"t"}"#), ("persistence.backup", "{}"),
                ("persistence.import", #"{"stream":"stream:0"}"#),
                ("persistence.export", #"{"namespace":"12345:local"}"#), ("login.status", "{}"),
                ("login.users.list", "{}"),
            ]
            let denied = "permission.denied"
            #expect(
                try outcomes(calls, of: daemon) == ["answered", denied, denied, denied, "answered", denied])
            try rules(rule + "[\"store.copy\", \"accounts.manage\"]\n", daemon, root)
            #expect(
                try outcomes(calls, of: daemon)
                    == [denied, "answered", "stream.not_found", "answered", denied, "answered"])
        }
    }
    @Test("does not include the copy that another user requested, even if one may request one's own")
    func copies() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let root = try daemon.connect()
            let names = #"["store.copy", "bridge.stream.*"]"#
            try rules("[[rule]]\nallow = \"call\"\nuid = 12345\nnames = \(names)\n", daemon, root)
            let copy = try root.result("persistence.export")
            let stream = try #require(copy["stream"])
            let read = ("bridge.stream.read", JSON.object(["stream": stream]).text)
            let restore = ("persistence.restore", JSON.object(["stream": stream]).text)
            let others = try outcomes([read, restore, ("persistence.export", "{}")], of: daemon)
            #expect(others == ["stream.not_found", "stream.not_found", "answered"])
            let part = try root.result("bridge.stream.read", ["stream": stream])
            #expect(part["totalBytes"] == copy["bytes"] && part["type"] == "application/jsonl")
        }
    }
}
