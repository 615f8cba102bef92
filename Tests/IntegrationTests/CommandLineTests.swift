import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("The daemon's command line and configuration", .blocking)
struct CommandLineTests {
    /// Runs the daemon with flags that make it exit without a signal.
    func trestled(_ arguments: [String], in home: DaemonHome? = nil) throws -> ProgramRun {
        try run(Paths.program("trestled"), arguments, environment: home?.environment ?? DaemonHome().environment)
    }

    @Test("--version and --help print to standard output and exit with 0; daemon and command line have one version")
    func versionAndHelp() throws {
        let version = try trestled(["--version"])
        #expect(version.end == .exited(0))
        #expect(version.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil, "\(version.output)")
        #expect(try run(Paths.program("trestle"), ["--version"]).output == version.output)
        let help = try trestled(["--help"])
        #expect(help.end == .exited(0))
        for flag in [
            "--socket", "--state-dir", "--plugin-dir", "--config", "--log-level", "--check-config", "--print-config",
        ] {
            #expect(help.output.contains(flag))
        }
    }

    @Test(
        "an invalid command line exits with 64 and an error that names the argument",
        arguments: [
            (["--sokcet", "x"], "unknown option '--sokcet'; did you mean '--socket'?"),
            (["--socket"], "missing value for '--socket <path>'"), (["spare"], "unexpected argument 'spare'"),
        ])
    func wrongFlags(arguments: [String], sentence: String) throws {
        let daemon = try trestled(arguments)
        #expect(daemon.end == .exited(64))
        #expect(daemon.output == "")
        #expect(daemon.errors.hasPrefix("trestled: \(sentence)\n"), "\(daemon.errors)")
        #expect(daemon.errors.contains("\nUsage: trestled "), "\(daemon.errors)")
    }

    @Test(
        "an invalid value of a flag exits with 78 and an error that names the flag or the file",
        arguments: [
            (["--log-level", "loud"], "--log-level: expected one of"),
            (["--config", "/nowhere.toml"], "/nowhere.toml: cannot be read: No such file or directory"),
            (["--plugin-dir", "/nowhere"], "--plugin-dir: the directory /nowhere cannot be read"),
        ])
    func wrongValues(arguments: [String], reason: String) throws {
        let home = try DaemonHome()
        let paths = ["--socket", home.socketPath, "--state-dir", home.statePath]
        let daemon = try trestled(paths + arguments, in: home)
        #expect(daemon.end == .exited(78))
        #expect(daemon.errors.contains(reason), "\(daemon.errors)")
    }

    @Test("all errors of a configuration are reported at once, each with its position, and the daemon does not start")
    func configurationErrors() throws {
        let home = try DaemonHome(
            """
            log_level = "loud"
            sockte = "/tmp/s"
            [limits]
            stalled = 5
            """)
        for arguments in [home.commandLine, home.commandLine + ["--check-config"]] {
            let daemon = try trestled(arguments.filter { $0 != "--log-level" && $0 != "debug" }, in: home)
            #expect(daemon.end == .exited(78))
            let file = home.folder.file("trestled.toml")
            let lines = daemon.errors.split(separator: "\n").filter { $0.contains(file) }
            try #require(lines.count == 3, "\(daemon.errors)")
            #expect(lines[0].contains("\(file):1:13: log_level: expected one of"), "\(lines[0])")
            #expect(lines[1].contains("\(file):2:1: sockte: unknown key; did you mean 'socket'?"), "\(lines[1])")
            #expect(lines[2].contains("\(file):4:11: limits.stalled: expected a duration"), "\(lines[2])")
            #expect(!exists(home.socketPath) && !exists(home.statePath))
        }
    }

    @Test("one invalid setting hides no other mistake in plugins' sections, lists, quotas or rules")
    func everyError() throws {
        let home = try DaemonHome(
            """
            log_level = "loud"
            drain_timeout = 5
            [plugins]
            disabled = ["ehco", "lgoin"]
            plugin_dir = "/srv/plugins"
            [plugins.login]
            token_days = 0
            password_cost = "cheap"
            [plugins.persistence]
            file = "a/b"
            [quotas.tasks.Echo]
            calls_burst = -1
            calls = 1
            """)
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write("[[rule]]\nallow = \"cal\"\nuid = true\n[[rul]]\n", to: "policy.d/10.toml")
        home.logLevel = nil
        let file = home.folder.file("trestled.toml")
        let rules = home.folder.file("policy.d/10.toml")
        let locations =
            ["1:13", "2:17", "4:13", "4:21", "5:1", "7:14", "8:17", "10:8", "12:15", "13:1"].map { "\(file):\($0): " }
            + ["2:9", "3:7", "4:3"].map { "\(rules):\($0): " }
        for arguments in [home.commandLine, home.commandLine + ["--check-config"]] {
            let daemon = try trestled(arguments, in: home)
            #expect(daemon.end == .exited(78))
            let lines = daemon.errors.split(separator: "\n").filter { $0.contains(home.folder.path) }
            #expect(lines.count == locations.count, "\(daemon.errors)")
            for (line, location) in zip(lines, locations) { #expect(line.contains(location), "\(daemon.errors)") }
            #expect(!exists(home.statePath))
        }
    }

    @Test("a file that is not TOML is reported with its position")
    func notTOML() throws {
        let home = try DaemonHome("log_level = \"info\"\nsocket = [\n")
        let daemon = try trestled(["--check-config"], in: home)
        #expect(daemon.end == .exited(78))
        #expect(daemon.errors.hasPrefix("\(home.folder.file("trestled.toml")):"), "\(daemon.errors)")
    }

    @Test("a plugin checks its own section, and each error shows the path of the setting")
    func pluginSections() throws {
        let home = try DaemonHome(
            """
            [plugins.persistence]
            file = "a/b"
            [plugins.nobody]
            """)
        let file = home.folder.file("trestled.toml")
        for arguments in [home.commandLine, home.commandLine + ["--check-config"]] {
            let daemon = try trestled(arguments, in: home)
            #expect(daemon.end == .exited(78))
            let lines = daemon.errors.split(separator: "\n")
            #expect(lines.count { $0.contains("\(file):2:8: plugins.persistence.file: ") } == 1, "\(daemon.errors)")
            #expect(lines.count { $0.contains("\(file):3:10: plugins.nobody: ") } == 1, "\(daemon.errors)")
            #expect(!exists(home.socketPath))
        }
    }

    @Test("--print-config refuses an unknown form and lists the known ones")
    func printedForms() throws {
        let daemon = try trestled(["--print-config", "yaml"])
        #expect(daemon.end == .exited(64))
        for form in ["sample", "reference", "schema", "effective"] {
            #expect(daemon.errors.contains(form), "\(daemon.errors)")
        }
    }

    @Test("--print-config effective shows each value and its source, but no secret")
    func effective() throws {
        let home = try DaemonHome(
            """
            call_timeout = "3s"
            [limits]
            sessions = 12
            [plugins.alert]
            presenters = ["auto"]
            api_token = "hush-hush"
            nested = { password = "hush-hush" }
            """)
        let file = home.folder.file("trestled.toml")
        let daemon = try trestled(["--print-config", "effective", "--log-level", "debug"], in: home)
        #expect(daemon.end == .exited(0), "\(daemon.errors)")
        let lines = daemon.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "# The settings in force. File: \(file)")
        for line in [
            #"call_timeout = "3s"  # line 1"#, "sessions = 12  # line 3", #"log_level = "debug"  # --log-level"#,
            ##"#drain_timeout = "5s"  # default"##, #"presenters = ["auto"]  # line 5"#,
            "# api_token is secret, and is not shown: line 6", "# nested is secret, and is not shown: line 7",
        ] {
            #expect(lines.contains(line), "\(line) is not in \(daemon.output)")
        }
        #expect(!daemon.output.contains("hush"))
    }

    @Test("the output of --print-config effective is a configuration with the same values")
    func effectiveAgain() throws {
        let home = try DaemonHome("call_timeout = \"3s\"\n[limits]\nsessions = 12\n")
        let first = try trestled(["--print-config", "effective"], in: home).output
        let again = try trestled(["--print-config", "effective"], in: DaemonHome(first)).output
        let values = { (text: String) in
            text.split(separator: "\n").dropFirst().map { $0.prefix { $0 != " " } }
        }
        #expect(values(again) == values(first))
        #expect(again.contains("call_timeout = \"3s\"  # line") && again.contains("\nsessions = 12  # line"))
        #expect(values(first).count > 30)
    }

    @Test("trestle config check and show have the output and exit status of trestled")
    func configurationCommands() throws {
        let home = try DaemonHome("[limits]\nsessions = \"many\"\n")
        let file = home.folder.file("trestled.toml")
        for command in ["check", "show"] {
            let run = try home.trestle("config", command, "--config", file)
            #expect(run.end == .exited(78) && run.errors.contains("\(file):2:12: limits.sessions"), "\(run.errors)")
        }
        let good = try DaemonHome("[limits]\nsessions = 13\n")
        let goodFile = good.folder.file("trestled.toml")
        let shown = try good.trestle("config", "show", "--config", goodFile)
        #expect(shown.end == .exited(0) && shown.output.contains("sessions = 13  # line 2"), "\(shown.errors)")
    }

    @Test("--check-config works while a daemon runs with that configuration")
    func checkBesideADaemon() throws {
        try withDaemon { daemon throws in
            #expect(try trestled(daemon.home.commandLine + ["--check-config"], in: daemon.home).end == .exited(0))
            #expect(try daemon.connect().result("Echo", 1) == 1)
        }
    }

    @Test("flags override the configuration file")
    func flagsBeatTheFile() throws {
        let home = try DaemonHome("log_level = \"error\"\nsocket = \"/nowhere/s\"\nstate_dir = \"/nowhere/state\"")
        // The command line has flags for all three settings.
        try withDaemon(in: home) { daemon throws in
            #expect(try daemon.connect().result("Echo", 1) == 1)
            #expect(daemon.log.contains("debug"))
        }
    }

    @Test("settings of the file apply if no flag overrides them")
    func fileHolds() throws {
        try withDaemon("call_timeout = \"20ms\"\nlimits.calls_in_flight = 3") { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let client = try daemon.connect()
            let limits = try client.result("bridge.hello")["limits"]
            #expect(limits?["callTimeoutMs"] == 20)
            #expect(limits?["callsInFlight"] == 3)
            #expect(try client.call("slow")["error"]?["code"] == "call.timeout")
        }
    }

    @Test("the log goes to standard error, one line per message, without colours if it is a file")
    func log() throws {
        try withDaemon { daemon throws in
            #expect(try daemon.stop() == .exited(0))
            let lines = daemon.log.split(separator: "\n")
            #expect(lines.count > 2)
            let start = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} (error|warning|notice|info|debug) /#
            for line in lines {
                #expect(line.prefixMatch(of: start) != nil && !line.contains("\u{1B}"), "\(line)")
            }
        }
    }
}
