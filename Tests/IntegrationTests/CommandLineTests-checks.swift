import BridgeJSON
import Glibc
import TestSupport
import Testing

extension CommandLineTests {
    @Test("--check-config accepts a valid configuration and creates no files")
    func check() throws {
        let home = try DaemonHome("call_timeout = \"5s\"")
        let daemon = try trestled(home.commandLine + ["--check-config"], in: home)
        #expect(daemon.end == .exited(0))
        #expect(daemon.output.hasPrefix("valid: \(home.folder.file("trestled.toml")), with "), "\(daemon.output)")
        #expect(!exists(home.socketPath))
        #expect(!exists(home.statePath))
    }

    @Test("--check-config warns about implausible settings and accepts them")
    func checkWarns() throws {
        let home = try DaemonHome("[limits]\nsessions = 1000000\nevent_queue_bytes = \"4KiB\"")
        // The common descriptor limit of a shell.
        let command = (["ulimit -n 1024; exec \"$0\" \"$@\"", Paths.program("trestled")] + home.commandLine)
        let daemon = try run("/bin/sh", ["-c"] + command + ["--check-config"], environment: home.environment)
        #expect(daemon.end == .exited(0))
        #expect(daemon.output.hasPrefix("valid: "))
        let lines = daemon.errors.split(separator: "\n")
        let file = home.folder.file("trestled.toml")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasPrefix("warning: \(file):") }, "\(daemon.errors)")
        #expect(lines.contains { $0.contains(":2:12: limits.sessions: the process may have 1024 descriptors") })
        #expect(lines.contains { $0.contains(":3:21: limits.event_queue_bytes: ") })
    }

    @Test("--check-config warns about a rule for local sessions if its users may represent an origin without a rule")
    func checkWarnsOfRules() throws {
        let home = try DaemonHome()
        let file = "policy.d/10.toml"
        mkdir(home.folder.file("policy.d"), 0o755)
        let origin = "[[rule]]\nallow = \"origin\"\nnames = \"app://x\"\nuid = 12345\n"
        let calls = "[[rule]]\nallow = \"call\"\nnames = \"Echo\"\nuid = 12345\n"
        for (rules, isWarned) in [
            (origin + calls, true), (calls, false), (origin + calls + "origin = \"local\"\n", false),
            (origin + calls + calls + "origin = \"app://x\"\n", false),
        ] {
            try home.folder.write(rules, to: file)
            let daemon = try trestled(home.commandLine + ["--check-config"], in: home)
            #expect(daemon.end == .exited(0), "\(daemon.errors)")
            #expect(daemon.output.hasPrefix("valid: "))
            let warning = "warning: \(home.folder.file(file)):5: the rule allows only local sessions; "
            #expect(daemon.errors.hasPrefix(warning) == isWarned, "\(rules)\(daemon.errors)")
            #expect(daemon.errors.split(separator: "\n").count == (isWarned ? 1 : 0), "\(daemon.errors)")
            #expect(daemon.errors.contains("its users may also represent app://x, ") == isWarned)
        }
    }

    @Test(
        "--check-config warns about a rule that seems to grant administration, and names the permission that does",
        arguments: [
            (#"names = "bridge.*""#, "bridge.* does not cover bridge.calls, bridge.kill, "),
            (#"names = "bridge.admin""#, nil), (#"names = "*""#, nil), (#"names = "Echo""#, nil),
            (#"names = "bridge.kill""#, "bridge.kill, whose permission is bridge.admin"),
        ] as [(String, String?)])
    func checkWarnsOfAdministration(names: String, warning: String?) throws {
        let home = try DaemonHome()
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write("[[rule]]\nallow = \"call\"\nuid = 12345\n\(names)\n", to: "policy.d/10.toml")
        let daemon = try trestled(home.commandLine + ["--check-config"], in: home)
        #expect(daemon.end == .exited(0), "\(daemon.errors)")
        #expect(daemon.output.hasPrefix("valid: "))
        guard let warning else { return #expect(daemon.errors == "") }
        let lines = daemon.errors.split(separator: "\n")
        #expect(lines.count == 1, "\(daemon.errors)")
        #expect(daemon.errors.hasPrefix("warning: \(home.folder.file("policy.d/10.toml")):1: "), "\(daemon.errors)")
        #expect(daemon.errors.contains(warning) && daemon.errors.contains("bridge.admin"), "\(daemon.errors)")
    }

    @Test(
        "--check-config reports every kind of mistake with its line, and exits with 78",
        arguments: [
            ("a = [", ":1:"), ("log_level = \"info\"\nlog_level = \"info\"", ":2:"),
            ("sokcet = \"/s\"", ":1:1: sokcet: unknown key"),
            ("limits = 1", ":1:10: limits: expected a table"),
            ("socket = \"s\"", ":1:10: socket: expected an absolute path"),
            ("socket_mode = 600", ":1:15: socket_mode: expected octal"),
            ("\nlog_level = \"loud\"", ":2:13: log_level: expected one of"),
            ("stop_timeout = 5", ":1:16: stop_timeout: expected a duration"),
            ("limits.sessions = 0", ":1:19: limits.sessions: expected a number of sessions"),
            ("limits.unread_bytes = \"1TiB\"", ":1:23: limits.unread_bytes: expected a size"),
            ("plugin_dir = [\"/nowhere\"]", ":1:15: plugin_dir[0]: the directory /nowhere cannot be read"),
            ("plugins.disabled = [\"ehco\"]", ":1:21: plugins.disabled[0]: \"ehco\": no plugin of this name"),
            ("[plugins.ehco]", ":1:10: plugins.ehco: no plugin of this name"),
            ("[plugins.alert]\npresenter = 1", ":2:1: plugins.alert.presenter: unknown key"),
            (
                "[plugins.alert]\npresenters = [\"log\", \"log\"]",
                ":2:22: plugins.alert.presenters[1]: expected a presenter"
            ),
            ("[plugins.login]\ntoken_days = 0", ":2:14: plugins.login.token_days: expected"),
            ("[plugins.echo]\nx = 1", ":2:1: plugins.echo.x: unknown key"),
            (
                "[plugins.echo]\nplugin_dir = \"/p\"",
                ":2:1: plugins.echo.plugin_dir: unknown key; `plugin_dir` belongs above the first table of the file"
            ),
            (
                "message_bytes = 2048",
                ":1:1: message_bytes: unknown key; `message_bytes` belongs in the table [limits]"
            ),
        ])
    func everyMistake(text: String, problem: String) throws {
        let home = try DaemonHome(text)
        let daemon = try trestled(["--check-config"], in: home)
        #expect(daemon.end == .exited(78))
        #expect(daemon.output == "")
        let file = home.folder.file("trestled.toml")
        #expect(daemon.errors.hasPrefix(file + problem), "\(daemon.errors)")
        #expect(daemon.errors.split(separator: "\n").count == 1, "\(daemon.errors)")
    }
}
